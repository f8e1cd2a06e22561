package opencode

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"tandem/internal/session/agents"
)

// program is OpenCode's server as far as a link speaks to it, and as untidy: ends are told late and more than once.
type program struct {
	mu       sync.Mutex
	r        *rand.Rand
	messages []map[string]any
	busy     bool
	streams  []chan string
	stop     chan struct{} // of the turn that runs
}

func (p *program) chance(n int) bool { p.mu.Lock(); defer p.mu.Unlock(); return p.r.IntN(n) == 0 }

func (p *program) pause() {
	p.mu.Lock()
	d := time.Duration(p.r.IntN(8)) * time.Millisecond
	p.mu.Unlock()
	time.Sleep(d)
}

func (p *program) tell(typ string, properties map[string]any) {
	properties["sessionID"] = "ses"
	data, _ := json.Marshal(map[string]any{"type": typ, "properties": properties})
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.streams {
		s <- string(data)
	}
}

// idle tells the end of a turn, and often once more when the next one may have begun.
func (p *program) idle() {
	p.mu.Lock()
	p.busy = false
	p.mu.Unlock()
	p.tell("session.idle", map[string]any{})
	if p.chance(2) {
		go func() { p.pause(); p.tell("session.idle", map[string]any{}) }()
	}
}

func (p *program) add(info map[string]any, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := map[string]any{"info": info, "parts": []any{}}
	if text != "" {
		m["parts"] = []any{map[string]any{"type": "text", "text": text}}
	}
	p.messages = append(p.messages, m)
}

// run plays a prompt's turn: its first word says how it goes.
func (p *program) run(id, text string, stop chan struct{}) {
	how, say, _ := strings.Cut(text, " ")
	broken := map[string]any{"name": "APIError", "data": map[string]any{"message": "broken", "statusCode": 500}}
	aborted := map[string]any{"name": "MessageAbortedError", "data": map[string]any{"message": "aborted"}}
	p.pause()
	if how == "refused" { // before anything answers
		p.tell("session.error", map[string]any{"error": broken})
		p.idle()
		return
	}
	p.mu.Lock()
	p.busy = true
	p.mu.Unlock()
	p.tell("session.status", map[string]any{"status": map[string]any{"type": "busy"}})
	p.pause()
	answer := map[string]any{"id": "msg_a" + id, "role": "assistant", "parentID": id, "tokens": map[string]any{"output": 3}}
	switch how {
	case "say":
		answer["finish"] = "stop"
		p.add(answer, say)
	case "fail":
		answer["error"] = broken
		p.add(answer, "")
		p.tell("session.error", map[string]any{"error": broken})
	case "hang":
		p.add(answer, "")
		<-stop
		p.mu.Lock()
		answer["error"] = aborted
		p.mu.Unlock()
		p.tell("session.error", map[string]any{"error": aborted})
	case "retry": // nothing tells that it was stopped
		p.add(answer, "")
		p.tell("session.status", map[string]any{"status": map[string]any{"type": "retry", "message": "429"}})
		<-stop
	}
	p.pause()
	p.idle()
}

func (p *program) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := func(v any) { _ = json.NewEncoder(w).Encode(v) }
	switch {
	case r.URL.Path == "/event":
		s := make(chan string, 1024)
		p.mu.Lock()
		p.streams = append(p.streams, s)
		p.mu.Unlock()
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		for {
			select {
			case <-r.Context().Done():
				return
			case data := <-s:
				fmt.Fprintf(w, "data: %s\n\n", data)
				w.(http.Flusher).Flush()
			}
		}
	case strings.HasSuffix(r.URL.Path, "/message"):
		p.mu.Lock()
		defer p.mu.Unlock()
		answer(p.messages)
	case r.URL.Path == "/session/status":
		p.mu.Lock()
		defer p.mu.Unlock()
		status := map[string]any{}
		if p.busy {
			status["ses"] = map[string]any{"type": "busy"}
		}
		answer(status)
	case strings.HasSuffix(r.URL.Path, "/prompt_async"):
		var in struct {
			ID    string `json:"messageID"`
			Parts []struct{ Text string }
		}
		_ = json.NewDecoder(r.Body).Decode(&in)
		p.add(map[string]any{"id": in.ID, "role": "user"}, in.Parts[0].Text)
		p.mu.Lock()
		p.stop = make(chan struct{})
		stop := p.stop
		p.mu.Unlock()
		go p.run(in.ID, in.Parts[0].Text, stop)
	case strings.HasSuffix(r.URL.Path, "/abort"):
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.stop != nil {
			close(p.stop)
			p.stop = nil
		}
	case r.URL.Path == "/agent" || r.URL.Path == "/permission" || r.URL.Path == "/question":
		answer([]any{})
	default:
		answer(map[string]any{"id": "ses", "version": "1", "permission": []rule{asks}})
	}
}

// Whatever came before it, and however often the program tells an earlier end, a prompt ends once, as it ended, and one that is done was
// answered: its words come before its end.
func TestNoPromptIsLost(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	p := &program{r: rand.New(rand.NewPCG(seed, 0))}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: p}
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
	l, err := Open(t.Context(), Server{Port: listener.Addr().(*net.TCPAddr).Port}, "ses")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	r := rand.New(rand.NewPCG(seed, 1))
	ended := map[string]bool{}
	for i := range 60 {
		how := []string{"say", "say", "fail", "refused", "hang", "retry"}[r.IntN(6)]
		words := fmt.Sprintf("words %d", i)
		turn, err := l.Prompt(t.Context(), agents.Prompt{Text: how + " " + words})
		if err != nil {
			t.Fatal(err)
		}
		if how == "hang" || how == "retry" {
			time.Sleep(time.Duration(20+r.IntN(20)) * time.Millisecond)
			if err := l.Interrupt(t.Context(), turn); err != nil {
				t.Fatal(err)
			}
		}
		want := map[string]agents.EntryKind{"say": agents.Ended, "fail": agents.Failed, "refused": agents.Failed, "hang": agents.Interrupted,
			"retry": agents.Interrupted}[how]
		said := ""
		for end := time.After(2 * time.Minute); !ended[turn]; {
			select {
			case e := <-l.Events():
				switch {
				case e.Kind == agents.Said && e.Turn == turn:
					said += e.Text
				case e.Kind != agents.Ended && e.Kind != agents.Failed && e.Kind != agents.Interrupted:
				case ended[e.Turn]:
					t.Fatalf("%d: %s ended twice", i, e.Turn)
				case e.Turn != turn || e.Kind != want:
					t.Fatalf("%d: a prompt to %s ended %s (%s is %s)", i, how, e.Kind, e.Turn, turn)
				default:
					ended[turn] = true
				}
			case <-end:
				t.Fatalf("%d: a prompt to %s never ended", i, how)
			}
		}
		if how == "say" && said != words {
			t.Fatalf("%d: it said %q", i, said)
		}
		if r.IntN(3) == 0 {
			time.Sleep(time.Duration(r.IntN(10)) * time.Millisecond)
		}
	}
}
