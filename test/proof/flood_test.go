package proof

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/client"
)

// Twenty thousand requests that were begun and never finished took every file descriptor of the server: nobody got in by TCP, the
// control socket and the repositories' watchers failed. Here the server may open 1,024 files, and three thousand such connections come
// from the very address that honest callers use. The control socket answers, streams that were open go on, a workspace on another
// machine pushes, and honest requests on new connections are served.
func TestHalfSentRequestsStopNobody(t *testing.T) {
	s := newServer(t)
	s.wrap = []string{"sh", "-c", `ulimit -n 1024; exec "$@"`, "sh"}
	f := newFleetOn(t, s, filepath.Join(s.home, "project"))
	f.join(1)
	address := strings.TrimPrefix(s.url, "http://")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	events := s.follow(ctx, "after-the-flood")
	heads := make(chan heard, 1000)
	defer f.watch(t, "", heads)()

	begun := []string{
		"POST /mcp HTTP/1.1\r\nHost: " + address + "\r\n",
		"POST /join HTTP/1.1\r\nHost: " + address + "\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{",
		"GET /wh",
		"",
		"GET /health HTTP/1.1\r\nHost: " + address + "\r\n\r\n", // and idle from then on
	}
	for i := range 3000 {
		conn, err := net.DialTimeout("tcp", address, 10*time.Second)
		if err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
		defer conn.Close()
		conn.Write([]byte(begun[i%len(begun)])) // a connection that was closed to make room does not take it
	}

	near := client.Socket(filepath.Join(s.data, "tandem.sock"))
	for i := range 20 {
		if err := near.Call(ctx, "actor.whoami", nil, nil); err != nil {
			t.Fatalf("the control socket, call %d: %v", i, err)
		}
		req, err := http.NewRequestWithContext(ctx, "GET", s.url+"/whoami", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Close = true // a connection of its own each time
		req.Header.Set("Authorization", "Bearer "+s.token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatalf("an honest request, call %d: %v", i, err)
		}
		resp.Body.Close()
		if resp.StatusCode != 200 {
			t.Fatalf("an honest request, call %d: %s", i, resp.Status)
		}
	}
	if err := near.Call(ctx, "resource.put", map[string]any{"key": "after-the-flood", "value": 1}, nil); err != nil {
		t.Fatal(err)
	}
	if _, ok := <-events; !ok {
		t.Error("the event stream was cut")
	}
	if err := f.agents[0].commit(1); err != nil {
		t.Fatal(err)
	}
	if n := f.inRepo(); n != 1 {
		t.Errorf("%d commits of the workspace are safe at the server", n)
	}
	for head := f.heads(f.agents[0]); ; {
		select {
		case h := <-heads:
			if h.head == head {
				return
			}
		case <-ctx.Done():
			t.Fatal("the repository's watcher is silent")
		}
	}
}

// follow reads the server's events and passes on those that name something; it is closed when the stream ends.
func (s *server) follow(ctx context.Context, name string) <-chan string {
	s.t.Helper()
	req, err := http.NewRequestWithContext(ctx, "GET", s.url+"/event", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	stream, err := http.DefaultClient.Do(req)
	if err != nil || stream.StatusCode != 200 {
		s.t.Fatalf("%v %v", stream, err)
	}
	events := make(chan string, 1000)
	go func() {
		defer close(events)
		defer stream.Body.Close()
		for lines := bufio.NewScanner(stream.Body); lines.Scan(); {
			if strings.Contains(lines.Text(), name) {
				events <- lines.Text()
			}
		}
	}()
	return events
}
