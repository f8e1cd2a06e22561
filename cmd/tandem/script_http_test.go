package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

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
	client := &http.Client{Timeout: 30 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
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
