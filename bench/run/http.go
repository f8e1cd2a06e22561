package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"
)

// httpOperations compares an operation over HTTP, token and all, with a handler
// that does nothing but answer the same bytes, and for a write stores the value.
func httpOperations(int) (section, error) {
	s := section{title: "An operation over HTTP", how: "`GET` and `PUT /resource/…` on the running program, with a token, " +
		"against a bare `net/http` handler that answers the same bytes; for a write one that first does one INSERT of the value with " +
		"synchronous=FULL. Kept-alive connections."}
	p, err := startProgram()
	if err != nil {
		return s, err
	}
	defer p.stop()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32}}
	call := func(method, url string, body []byte) ([]byte, error) {
		req, err := http.NewRequest(method, url, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		req.Header.Set("Authorization", "Bearer "+benchToken)
		req.Header.Set("Content-Type", "application/json")
		resp, err := client.Do(req)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		data, err := io.ReadAll(resp.Body)
		if err == nil && resp.StatusCode/100 != 2 {
			err = fmt.Errorf("%s %s: %s %s", method, url, resp.Status, data)
		}
		return data, err
	}
	put := []byte(`{"value":` + string(value) + `}`)
	if _, err := call("PUT", p.url+"/resource/bench/read", put); err != nil {
		return s, err
	}
	same, err := call("GET", p.url+"/resource/bench/read", nil)
	if err != nil {
		return s, err
	}
	bare, err := startBare(same)
	if err != nil {
		return s, err
	}
	defer bare.stop()
	plain := func(int, int) error { _, err := call("GET", bare.url, nil); return err }
	store := func(int, int) error { _, err := call("PUT", bare.url, put); return err }
	read := func(int, int) error { _, err := call("GET", p.url+"/resource/bench/read", nil); return err }
	write := func(caller, _ int) error {
		_, err := call("PUT", fmt.Sprintf("%s/resource/bench/%d-%d", p.url, caller, time.Now().UnixNano()), put)
		return err
	}
	for _, callers := range []int{1, 16} {
		for _, side := range []struct {
			what     string
			fn, bare func(caller, n int) error
			goal     float64
		}{{"read", read, plain, 0.6}, {"write", write, store, 0.45}} {
			ours, handler, err := compare(callers, side.fn, side.bare)
			if err != nil {
				return s, err
			}
			f := figure{what: fmt.Sprintf("%s, %d caller(s)", side.what, callers), value: perSecond(ours),
				compared: perSecond(handler) + ", so " + percent(ours/handler)}
			if callers == 1 {
				f.target, f.met = "≥ "+percent(side.goal), ours/handler >= side.goal
			}
			s.figures = append(s.figures, f)
		}
	}
	for _, side := range []struct {
		what string
		fn   func(caller, n int) error
	}{{"read", read}, {"write", write}} {
		slow, err := slowest(64, side.fn)
		if err != nil {
			return s, err
		}
		s.figures = append(s.figures, figure{what: side.what + ", 64 callers, p99", value: span(slow)})
	}
	return s, nil
}

// slowest is how long one of a hundred calls takes or longer, when so many call at once.
func slowest(callers int, fn func(caller, n int) error) (time.Duration, error) {
	var mu sync.Mutex
	var took []time.Duration
	_, err := rate(callers, 3*sample, func(caller, n int) error {
		began := time.Now()
		err := fn(caller, n)
		d := time.Since(began)
		mu.Lock()
		took = append(took, d)
		mu.Unlock()
		return err
	})
	slices.Sort(took)
	return took[len(took)*99/100], err
}

// startBare runs a handler that answers some bytes, in a process of its own as
// the program is.
func startBare(answer []byte) (*program, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	p := &program{url: fmt.Sprintf("http://127.0.0.1:%d", port)}
	p.cmd = exec.Command(self, "-bare", fmt.Sprintf("127.0.0.1:%d", port))
	p.cmd.Stdin = bytes.NewReader(answer)
	if p.cmd.Dir, err = scratch("tb"); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	for range 500 {
		if resp, err := http.Get(p.url); err == nil {
			return p, resp.Body.Close()
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil, errors.New("the bare handler does not answer")
}

// serveBare is the other side of startBare. What it stores lies in its working folder.
func serveBare(address string) error {
	answer, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	insert, done, err := bareInsert("bare.db")
	if err != nil {
		return err
	}
	defer done()
	return http.ListenAndServe(address, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if r.Method == http.MethodPut {
			if err := insert(0, 0); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write(answer)
	}))
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
