package proof

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tandem/internal/testenv"
)

// server is one daemon in a process of its own, with a home of its own.
type server struct {
	t     testing.TB
	home  string
	data  string
	url   string
	token string   // the API's token: everyday rights
	env   []string // of the daemon and of every command
	args  []string // beyond the usual ones
	wrap  []string // a program to start it under (unshare …)
	enter []string // a program to start it and its commands under (nsenter …)

	program string      // its path as wrap sees it, when that differs
	health  func() bool // how to ask whether it is healthy, when not by its port

	cmd  *exec.Cmd
	done chan struct{}
	log  *lockedBuffer
}

const apiToken = "tdm_proof_api_token_0123456789"

// newServer prepares a server without starting it.
func newServer(t testing.TB) *server {
	t.Helper()
	home := testenv.Dir(t)
	s := &server{t: t, home: home, data: filepath.Join(home, ".tandem"), token: apiToken, log: &lockedBuffer{},
		url: fmt.Sprintf("http://127.0.0.1:%d", testenv.Port(t))}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the server's log ends with:\n%s", tail(s.log.String(), 5000))
		}
	})
	s.env = testenv.Env(t, "HOME="+home, "TANDEM_API_TOKEN="+apiToken)
	return s
}

func tail(s string, n int) string {
	if len(s) > n {
		return "…" + s[len(s)-n:]
	}
	return s
}

// start starts the server and waits until it is healthy.
func (s *server) start() *server {
	s.t.Helper()
	if err := s.tryStart(); err != nil {
		s.t.Fatalf("start: %v\n%s", err, s.log.String())
	}
	return s
}

func (s *server) tryStart() error {
	program := s.program
	if program == "" {
		program = testenv.Tandem(s.t)
	}
	line := append([]string{program, "serve", "--data", s.data, "--listen", strings.TrimPrefix(s.url, "http://")}, s.args...)
	line = slices.Concat(s.enter, s.wrap, line)
	s.cmd = exec.Command(line[0], line[1:]...)
	s.cmd.Env, s.cmd.Dir = s.env, s.home
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	inGroup(s.cmd)
	if err := s.cmd.Start(); err != nil {
		return err
	}
	done := make(chan struct{})
	cmd := s.cmd
	s.done = done
	go func() { cmd.Wait(); close(done) }()
	s.t.Cleanup(func() {
		killGroup(cmd.Process.Pid)
		<-done
	})
	health := s.health
	if health == nil {
		health = func() bool {
			resp, err := http.Get(s.url + "/global/health")
			if err == nil {
				resp.Body.Close()
			}
			return err == nil && resp.StatusCode == 200
		}
	}
	ended := false
	started := testenv.Within(2*time.Minute, func() bool {
		select {
		case <-done:
			ended = true
			return true
		default:
			return health()
		}
	})
	switch {
	case ended:
		return fmt.Errorf("it ended: %v", cmd.ProcessState)
	case !started:
		return fmt.Errorf("it is not healthy after two minutes")
	}
	return nil
}

// kill9 ends the server as a crash does.
func (s *server) kill9() {
	s.t.Helper()
	if err := killGroup(s.cmd.Process.Pid); err != nil {
		s.t.Fatalf("kill -9: %v", err)
	}
	<-s.done
}

// stop ends the server politely and expects exit code 0.
func (s *server) stop() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	select {
	case <-s.done:
	case <-time.After(time.Minute):
		s.t.Fatalf("it does not stop\n%s", s.log.String())
	}
	if code := s.cmd.ProcessState.ExitCode(); code != 0 {
		s.t.Errorf("it ended with %d\n%s", code, s.log.String())
	}
}

// run runs one command of this server's user and returns what it printed.
func (s *server) run(args ...string) (string, error) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := s.command(ctx, args...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// command is one command line of this server's user.
func (s *server) command(ctx context.Context, args ...string) *exec.Cmd {
	s.t.Helper()
	line := slices.Concat(s.enter, []string{testenv.Tandem(s.t)}, args)
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Env, cmd.Dir = append(slices.Clone(s.env), "TANDEM_DATA="+s.data), s.home
	return cmd
}

// must runs a command that has to succeed.
func (s *server) must(args ...string) string {
	s.t.Helper()
	out, err := s.run(args...)
	if err != nil {
		s.t.Fatalf("tandem %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// socket is an HTTP client that speaks on the control socket.
func (s *server) socket() *http.Client {
	return &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn,
		error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(s.data, "tandem.sock"))
	}}}
}

// answer is what a request got.
type answer struct {
	status int
	body   []byte
}

func (a answer) String() string { return fmt.Sprintf("%d %s", a.status, bytes.TrimSpace(a.body)) }

// json reads the answer's body into a value.
func (a answer) json(t testing.TB) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(a.body, &v); err != nil {
		t.Fatalf("%s is not JSON: %v", a, err)
	}
	return v
}

// as sends a request with a bearer token; "" is a stranger.
func (s *server) as(token, method, path string, body any) answer {
	s.t.Helper()
	a, err := s.try(context.Background(), token, method, path, body)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

func (s *server) try(ctx context.Context, token, method, path string, body any, header ...string) (answer, error) {
	var in io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return answer{}, err
		}
		in = bytes.NewReader(data)
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, in)
	if err != nil {
		return answer{}, err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
		} else {
			req.Header.Set(header[i], header[i+1])
		}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, data}, err
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func TestMain(m *testing.M) {
	http.DefaultTransport.(*http.Transport).MaxIdleConnsPerHost = 64
	os.Exit(m.Run())
}
