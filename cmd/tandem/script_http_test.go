package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"
)

// request calls the server over HTTP and prints the status and the body:
//
//	http [-as NAME] [-H 'Name: value'] METHOD PATH [BODY | @FILE]
//
// Without -as it has the API's token; -as stranger sends none. It fails when
// the status is 400 or more.
func request(ts *testscript.TestScript, neg bool, args []string) {
	token := apiToken
	header := http.Header{}
	var host string
	for len(args) >= 2 && strings.HasPrefix(args[0], "-") {
		switch args[0] {
		case "-as":
			token = ""
			if args[1] != "stranger" {
				token = tokenOf(ts, args[1])
			}
		case "-H":
			name, value, _ := strings.Cut(args[1], ":")
			if strings.EqualFold(name, "Host") {
				host = strings.TrimSpace(value)
			}
			header.Set(name, strings.TrimSpace(value))
		default:
			ts.Fatalf("http knows -as and -H, not %s", args[0])
		}
		args = args[2:]
	}
	if len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: http [-as NAME] [-H HEADER] METHOD PATH [BODY]")
	}
	var body io.Reader
	if len(args) == 3 {
		text := args[2]
		if file, ok := strings.CutPrefix(text, "@"); ok {
			data, err := os.ReadFile(ts.MkAbs(file))
			ts.Check(err)
			text = string(data)
		}
		body = strings.NewReader(text)
		if header.Get("Content-Type") == "" {
			header.Set("Content-Type", "application/json")
		}
	}
	req, err := http.NewRequest(args[0], ts.Getenv("URL")+args[1], body)
	ts.Check(err)
	for name := range header {
		req.Header.Set(name, header.Get(name))
	}
	req.Host = host
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	client := &http.Client{Timeout: 30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	ts.Check(err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	ts.Check(err)
	fmt.Fprintf(ts.Stdout(), "%d\n%s\n", resp.StatusCode, data)
	var failed error
	if resp.StatusCode >= 400 {
		failed = fmt.Errorf("%s", resp.Status)
	}
	check(ts, neg, failed)
}

// flood sends one request again and again, eight at a time, and prints how many
// were accepted and how many refused by which status: flood NAME N METHOD PATH BODY.
func flood(ts *testscript.TestScript, neg bool, args []string) {
	n := 0
	if !neg && len(args) == 5 {
		n, _ = strconv.Atoi(args[1])
	}
	if n < 1 {
		ts.Fatalf("usage: flood NAME N METHOD PATH BODY")
	}
	token, url := tokenOf(ts, args[0]), ts.Getenv("URL")+args[3]
	answers := make(chan int, n)
	var work sync.WaitGroup
	for w := range 8 {
		work.Go(func() {
			for i := w; i < n; i += 8 {
				status := 0
				if req, err := http.NewRequest(args[2], url, strings.NewReader(args[4])); err == nil {
					req.Header.Set("Content-Type", "application/json")
					req.Header.Set("Authorization", "Bearer "+token)
					if resp, err := http.DefaultClient.Do(req); err == nil {
						io.Copy(io.Discard, resp.Body)
						resp.Body.Close()
						status = resp.StatusCode
					}
				}
				answers <- status
			}
		})
	}
	work.Wait()
	close(answers)
	counts := map[int]int{}
	for status := range answers {
		if status/100 == 2 {
			status = 200
		}
		counts[status]++
	}
	fmt.Fprintf(ts.Stdout(), "%d accepted\n", counts[200])
	for status, n := range counts {
		if status != 200 {
			fmt.Fprintf(ts.Stdout(), "%d refused with %d\n", n, status)
		}
	}
}

// website serves a folder on loopback until the script ends, and puts its address into a variable: website SITE docs. What it is to
// answer with an error is a file .status of the folder, which holds the number.
func website(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: website VARIABLE FOLDER")
	}
	folder := ts.MkAbs(args[1])
	files := http.FileServer(http.Dir(folder))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if status, err := os.ReadFile(filepath.Join(folder, ".status")); err == nil {
			n, _ := strconv.Atoi(strings.TrimSpace(string(status)))
			http.Error(w, "no", n)
			return
		}
		files.ServeHTTP(w, r)
	}))
	ts.Defer(server.Close)
	ts.Setenv(args[0], server.URL)
}

// resources is an MCP server on loopback that gives the files of a folder to read, as they are then: resources NOTES folder.
func resources(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: resources VARIABLE FOLDER")
	}
	folder := ts.MkAbs(args[1])
	server := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server {
		s := mcp.NewServer(&mcp.Implementation{Name: "notes", Version: "1"}, nil)
		files, _ := os.ReadDir(folder)
		for _, f := range files {
			s.AddResource(&mcp.Resource{URI: "note://desk/" + f.Name(), Name: f.Name()},
				func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
					text, err := os.ReadFile(filepath.Join(folder, f.Name()))
					return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, Text: string(text)}}}, err
				})
		}
		return s
	}, &mcp.StreamableHTTPOptions{Stateless: true}))
	ts.Defer(server.Close)
	ts.Setenv(args[0], server.URL)
}

// ears is a stand-in of ntfy at $EARS: what it is told is a line of the file, PATH TITLE -> LINK.
func ears(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: ears FILE")
	}
	file, err := os.OpenFile(ts.MkAbs(args[0]), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	ts.Check(err)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(file, "%s %s -> %s\n", r.URL.Path, r.Header.Get("Title"), r.Header.Get("Click"))
	}))
	ts.Defer(func() { server.Close(); file.Close() })
	ts.Setenv("EARS", server.URL)
}
