package codex

import (
	"bufio"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"tandem/internal/session/agents"
	"tandem/internal/testenv"
)

// server is an app-server with one conversation, as far as a link speaks to it. It has answers for each method, of which the last
// stays, and what it tells before the first of them: a test chooses the order in which things arrive.
type server struct {
	t      *testing.T
	conn   net.Conn
	mu     sync.Mutex
	answer map[string][]string
	before map[string][]string
	asked  map[string]int
}

// serve starts one, and links to it.
func serve(t *testing.T, answer, before map[string][]string) (*server, *Link) {
	t.Helper()
	s := &server{t: t, answer: answer, before: before, asked: map[string]int{}}
	path := filepath.Join(testenv.Dir(t), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() { s.accept(l) })
	link, err := Open(t.Context(), path, "thread", false, Defaults{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { link.Close(); l.Close(); all.Wait() })
	return s, link
}

func (s *server) accept(l net.Listener) {
	conn, err := l.Accept()
	if err != nil {
		return
	}
	defer conn.Close()
	s.conn = conn
	in := bufio.NewReader(conn)
	r, err := http.ReadRequest(in)
	if err != nil {
		s.t.Error(err)
		return
	}
	sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n",
		base64.StdEncoding.EncodeToString(sum[:]))
	for {
		var m message
		if !receive(in, &m) {
			return
		}
		s.mu.Lock()
		s.asked[m.Method]++
		answer, before := "{}", s.before[m.Method]
		if all := s.answer[m.Method]; len(all) > 0 {
			answer, s.answer[m.Method] = all[0], all[min(1, len(all)-1):]
		}
		delete(s.before, m.Method)
		s.mu.Unlock()
		if len(m.ID) == 0 {
			continue
		}
		s.tell(before...)
		s.send(fmt.Sprintf(`{"id":%s,"result":%s}`, m.ID, answer))
	}
}

// receive reads a message that a client masked.
func receive(in *bufio.Reader, m *message) bool {
	var head [2]byte
	if _, err := io.ReadFull(in, head[:]); err != nil || head[0]&0xf != frameText {
		return false
	}
	size := int(head[1] & 0x7f)
	if size == 126 {
		var n [2]byte
		if _, err := io.ReadFull(in, n[:]); err != nil {
			return false
		}
		size = int(binary.BigEndian.Uint16(n[:]))
	}
	data := make([]byte, 4+size)
	if _, err := io.ReadFull(in, data); err != nil {
		return false
	}
	for i := range data[4:] {
		data[4+i] ^= data[i%4]
	}
	return json.Unmarshal(data[4:], m) == nil
}

func (s *server) tell(notices ...string) {
	for _, n := range notices {
		s.send(n)
	}
}

func (s *server) send(text string) {
	frame := []byte{0x80 | frameText, byte(len(text))}
	if len(text) > 125 {
		frame = binary.BigEndian.AppendUint16([]byte{0x80 | frameText, 126}, uint16(len(text)))
	}
	if _, err := s.conn.Write(append(frame, text...)); err != nil {
		s.t.Log(err)
	}
}

func (s *server) times(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[method]
}

// What the tests' one turn looks like.
const (
	running = `{"thread":{"status":{"type":"active"}}}`
	resting = `{"thread":{"status":{"type":"idle"}}}`
	active  = `{"method":"thread/status/changed","params":{"threadId":"thread","status":{"type":"active"}}}`
	idle    = `{"method":"thread/status/changed","params":{"threadId":"thread","status":{"type":"idle"}}}`
)

func listed(status string) string {
	return `{"data":[{"id":"turn","status":"` + status + `","items":[{"type":"agentMessage","id":"m","text":"words"}]}]}`
}

func completed(status string) string {
	return `{"method":"turn/completed","params":{"threadId":"thread","turn":{"id":"turn","status":"` + status + `"}}}`
}

// told waits for the end of the turn, and for what is told soon after it.
func told(t *testing.T, s *server, l *Link) []agents.EntryKind {
	t.Helper()
	var all []agents.EntryKind
	most, after := time.After(time.Minute), (<-chan time.Time)(nil)
	for {
		select {
		case e, ok := <-l.Events():
			if !ok {
				t.Fatalf("the link is gone after %v", all)
			}
			all = append(all, e.Kind)
			switch e.Kind {
			case agents.Ended, agents.Interrupted, agents.Failed:
				after = time.After(100 * time.Millisecond)
			}
		case <-after:
			return all
		case <-most:
			t.Fatalf("the turn never ended: %v, asked %v", all, s.asked)
		}
	}
}

// state is what the kinds say in the end, and how the turn ended.
func state(kinds []agents.EntryKind) (works bool, ended []agents.EntryKind) {
	for _, k := range kinds {
		switch k {
		case agents.Working:
			works = true
		case agents.Idle:
			works = false
		case agents.Ended, agents.Interrupted, agents.Failed:
			works, ended = false, append(ended, k)
		}
	}
	return works, ended
}

// A turn that ends while a link reads what came before is over: neither does an older answer set it to work again, nor are the words
// lost that only the answer has.
func TestATurnEndsWhileALinkCatchesUp(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"thread/resume", "thread/turns/list"} {
		for _, status := range []string{"inProgress", "completed", "interrupted"} {
			s, l := serve(t, map[string][]string{"thread/resume": {running}, "thread/turns/list": {listed(status)}},
				map[string][]string{method: {idle, completed("completed")}})
			kinds := told(t, s, l)
			works, ended := state(kinds)
			if works || !slices.Equal(ended, []agents.EntryKind{agents.Ended}) {
				t.Errorf("told before the answer to %s, which has it as %s: %v", method, status, kinds)
			}
			if said := slices.Index(kinds, agents.Said); said < 0 || said > slices.Index(kinds, agents.Ended) {
				t.Errorf("told before the answer to %s, which has it as %s: its words do not come before its end: %v", method, status, kinds)
			}
		}
	}
}

// A server calls every turn interrupted that it does not know to run, also one that begins or ends just then. What it says of
// it afterwards counts; and what it goes on to call so was.
func TestATurnThatAListCallsInterrupted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		resume   string
		lists    []string // of the turn's status
		is, then string   // what is told while the first is read, and after the second
		ended    agents.EntryKind
	}{
		{"it began, and runs", resting, []string{"interrupted", "inProgress"}, active, "completed", agents.Ended},
		{"it runs, and no list knows it yet", running, []string{"interrupted"}, active, "completed", agents.Ended},
		{"it ended before it was written down", running, []string{"interrupted", "completed"}, idle, "", agents.Ended},
		{"it was interrupted while nobody followed", resting, []string{"interrupted"}, idle, "", agents.Interrupted},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var lists []string
			for _, status := range c.lists {
				lists = append(lists, listed(status))
			}
			began := time.Now()
			s, l := serve(t, map[string][]string{"thread/resume": {c.resume}, "thread/turns/list": lists},
				map[string][]string{"thread/turns/list": {c.is}})
			if c.then != "" {
				testenv.Eventually(t, "it is looked at again", time.Minute, func() bool { return s.times("thread/turns/list") > 1 })
				s.tell(idle, completed(c.then))
			}
			_, ended := state(told(t, s, l))
			if !slices.Equal(ended, []agents.EntryKind{c.ended}) || c.ended == agents.Interrupted && time.Since(began) < believed {
				t.Errorf("it ended as %v after %s", ended, time.Since(began))
			}
		})
	}
}
