package scripted

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// block is a piece of a reply in terms of all wires. Arguments are text, because wires stream them as text.
type block struct {
	kind string // text, think or tool
	text string
	id   string
	name string
}

// voice is how a wire says things. All implementations write through the player.
type voice interface {
	begin()
	open(i int, b block)
	delta(i int, b block, piece string)
	close(i int, b block)
	end(stop string, u usage)
	broken(msg string)
	whole(bs []block, stop string, u usage) any // the answer when no stream was asked for
}

var voices = map[string]func(*player) voice{
	Anthropic: func(p *player) voice { return anthropicVoice{p} },
	Responses: func(p *player) voice { return &responsesVoice{p: p} },
	Chat:      func(p *player) voice { return chatVoice{p} },
}

type usage struct{ in, cached, out int }

// player is one answer being given.
type player struct {
	w      http.ResponseWriter
	ctx    context.Context
	q      *Request
	id     string
	voice  voice
	blocks []block
	begun  bool
	words  int
}

// run plays a turn and says how it ended: done, error, cut or aborted.
func (p *player) run(s *Server, t Turn) string {
	stop := "end"
	for _, st := range t {
		switch {
		case st.Error != 0:
			if !s.again(p.q, st) {
				if len(t) == 1 {
					p.say(block{kind: "text", text: "recovered"}, 0)
				}
				continue
			}
			msg := fmt.Sprintf("scripted error %d", st.Error)
			if st.Error == 400 || st.Error == 413 {
				msg = "prompt is too long: over the maximum context length"
			}
			fail(p.w, p.q.Wire, st.Error, msg, st.RetryAfter)
			return "error"
		case st.StreamError != "":
			p.start()
			if p.q.Stream {
				p.voice.broken(st.StreamError)
			}
			return "error"
		case st.Drop:
			p.start()
			return "cut"
		case st.Hang > 0:
			p.start()
			if !pause(p.ctx, seconds(st.Hang)) {
				return "aborted"
			}
			return "cut"
		case st.Tool != "":
			stop = "tools"
			b := block{kind: "tool", name: p.tool(st.Tool), text: string(st.Args), id: fmt.Sprintf("call_%s%d", p.id, len(p.blocks))}
			p.say(b, 0)
		case st.Think != "":
			p.say(block{kind: "think", text: st.Think}, 0)
		case st.Slow > 0:
			p.say(block{kind: "text", text: strings.TrimSpace(strings.Repeat("slow words ", max(int(st.Slow*5), 1)))}, st.Slow)
		case st.Result:
			p.say(block{kind: "text", text: "result: " + strings.Join(p.q.Results, "\n")}, 0)
		default:
			p.say(block{kind: "text", text: st.Say}, 0)
		}
		if st.Stop != "" {
			stop = st.Stop
		}
		if p.ctx.Err() != nil {
			return "aborted"
		}
	}
	u := usage{in: len(p.q.Body)/4 + 1, out: p.words}
	if b := string(p.q.Body); strings.Contains(b, "cache_control") || strings.Contains(b, "prompt_cache_key") {
		u.cached = u.in / 2
	}
	if !p.q.Stream {
		reply(p.w, p.voice.whole(p.blocks, stop, u))
		return "done"
	}
	p.start()
	p.voice.end(stop, u)
	return "done"
}

// tool resolves /regex/ against the offered tools.
func (p *player) tool(name string) string {
	if len(name) < 3 || name[0] != '/' || name[len(name)-1] != '/' {
		return name
	}
	re, err := regexp.Compile(name[1 : len(name)-1])
	if err != nil {
		return name
	}
	for _, t := range p.q.Tools {
		if re.MatchString(t) {
			return t
		}
	}
	return name
}

func (p *player) start() {
	if p.begun || !p.q.Stream {
		return
	}
	p.begun = true
	p.w.Header().Set("Content-Type", "text/event-stream")
	p.w.Header().Set("Cache-Control", "no-cache")
	p.voice.begin()
}

// say gives one block, in pieces, over so many seconds.
func (p *player) say(b block, over float64) {
	i := len(p.blocks)
	p.blocks = append(p.blocks, b)
	pieces := strings.SplitAfter(b.text, " ")
	p.words += len(pieces)
	if !p.q.Stream {
		pause(p.ctx, seconds(over))
		return
	}
	p.start()
	p.voice.open(i, b)
	for _, piece := range pieces {
		if !pause(p.ctx, seconds(over/float64(len(pieces)))) {
			return
		}
		p.voice.delta(i, b, piece)
	}
	p.voice.close(i, b)
}

// event writes one server-sent event and pushes it out.
func (p *player) event(name string, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // maps of strings and numbers always encode
	}
	if name != "" {
		fmt.Fprintf(p.w, "event: %s\n", name)
	}
	fmt.Fprintf(p.w, "data: %s\n\n", b)
	p.flush()
}

func (p *player) flush() {
	if f, ok := p.w.(http.Flusher); ok {
		f.Flush()
	}
}
