package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"tandem/internal/provider"
	"tandem/internal/provider/anthropic"
	"tandem/internal/provider/scripted"
)

// manySessions is how many sessions stream at once, and how many watch one.
const manySessions = 1000

// sessions measures what the runtime costs: a turn beside the bare call of its model, and many of them at once.
func sessions(int) (section, error) {
	s := section{title: "Sessions with models", how: "Turns of the running program over HTTP, from the prompt to the event of the turn's " +
		"end, on a scripted model on loopback that answers at once; journal and database " +
		"durable. Beside each the same model called directly, in turns. OpenCode's server answers the same prompts in a network namespace of " +
		"its own, where it is installed."}
	model := &scripted.Server{}
	if err := model.Start("127.0.0.1:0"); err != nil {
		return s, err
	}
	defer model.Close()
	p, err := startProgram()
	if err != nil {
		return s, err
	}
	defer p.stop()
	c := &caller{base: p.url, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	if err := c.do("provider.add", obj{"id": "fake", "base": model.URL(), "wire": "anthropic", "keyless": true}, nil); err != nil {
		return s, err
	}
	for _, measure := range []func(*section, *program, *caller, *scripted.Server) error{oneTurn, idleSessions, streamingSessions, watchers} {
		if err := measure(&s, p, c, model); err != nil {
			return s, err
		}
	}
	return s, nil
}

type obj = map[string]any

// caller runs operations over HTTP.
type caller struct {
	base  string
	http  *http.Client
	token string // the API's when it is empty
}

func (c *caller) bearer() string { return cmp.Or(c.token, benchToken) }

func (c *caller) do(name string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	req, err := http.NewRequest("POST", c.base+"/op/"+name, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+c.bearer())
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode/100 != 2 {
		return errors.Join(err, fmt.Errorf("%s: %s %s", name, resp.Status, data))
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(data, out)
}

func (c *caller) open() (string, error) {
	var s struct{ ID string }
	err := c.do("session.create", obj{"model": "fake/scripted-1"}, &s)
	return s.ID, err
}

// watch follows a session that had so many turns before and gives back the text that streamed until the next one ended. ready is closed
// once it is connected.
func (c *caller) watch(ctx context.Context, id string, before int, ready chan<- struct{}) (string, error) {
	req, err := http.NewRequestWithContext(ctx, "GET", c.base+"/sessions/"+id+"/stream", nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("Authorization", "Bearer "+c.bearer())
	resp, err := c.http.Do(req)
	close(ready)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var text strings.Builder
	ended := map[string]bool{} // a stream begins with what was there before
	lines := bufio.NewReader(resp.Body)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return text.String(), fmt.Errorf("the stream of %s ended early: %w", id, err)
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var e struct {
			Type, Delta string
			Body        struct {
				ID    string
				Ended *time.Time `json:"ended_at"`
			}
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			continue // a body that is a list has no end in it
		}
		text.WriteString(e.Delta)
		if e.Type != "turn.changed" || e.Body.Ended == nil || ended[e.Body.ID] {
			continue
		}
		if ended[e.Body.ID] = true; len(ended) > before {
			return text.String(), nil
		}
		text.Reset()
	}
}

// turn gives a session a prompt and waits for the end of the turn, on a stream that was open before. before is how many turns the
// session has had.
func (c *caller) turn(id, prompt string, before int) (string, time.Duration, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	ready := make(chan struct{})
	type end struct {
		text string
		err  error
	}
	ended := make(chan end, 1)
	go func() {
		text, err := c.watch(ctx, id, before, ready)
		ended <- end{text, err}
	}()
	<-ready
	began := time.Now()
	if err := c.do("session.prompt", obj{"id": id, "text": prompt}, nil); err != nil {
		return "", 0, err
	}
	e := <-ended
	return e.text, time.Since(began), e.err
}

func middle(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}

func millis(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d)/1e6) }

// oneTurn compares a governed turn with the bare call.
func oneTurn(s *section, _ *program, c *caller, model *scripted.Server) error {
	direct := anthropic.New(anthropic.Options{Base: model.URL()})
	var bare, ours []time.Duration
	for i := range 220 {
		began := time.Now()
		if _, err := direct.Stream(context.Background(),
			provider.Request{Model: "scripted-1", Messages: []provider.Message{provider.TextMessage(provider.User, "[[say hello]]")}},
			nil); err != nil {
			return err
		}
		b := time.Since(began)
		id, err := c.open()
		if err != nil {
			return err
		}
		_, o, err := c.turn(id, "[[say hello]]", 0)
		if err != nil {
			return err
		}
		if i >= 20 { // the first ones warm both up
			bare, ours = append(bare, b), append(ours, o)
		}
	}
	added := middle(ours) - middle(bare)
	s.figures = append(s.figures, figure{what: "added to a turn, median of 200", value: millis(added),
		compared: fmt.Sprintf("%s for the turn, %s for the bare call", millis(middle(ours)), millis(middle(bare))),
		target:   "< 5 ms", met: added < 5*time.Millisecond})
	turn, bareThere, why, err := openCode()
	if err != nil {
		return err
	}
	if why != "" {
		s.figures = append(s.figures, figure{what: "added to a turn by OpenCode's server", value: "not measured", compared: why})
		return nil
	}
	s.figures = append(s.figures, figure{what: "added to a turn by OpenCode's server, median of 20", value: millis(turn - bareThere),
		compared: fmt.Sprintf("%s for the turn, %s for the bare call; ours adds %.1f %% of it", millis(turn), millis(bareThere),
			100*float64(added)/float64(turn-bareThere))})
	return nil
}

// idleSessions measures what sessions hold when nothing happens.
func idleSessions(s *section, p *program, c *caller, _ *scripted.Server) error {
	before, err := p.memory()
	if err != nil {
		return err
	}
	ids := make([]string, manySessions)
	var all sync.WaitGroup
	failed := make(chan error, manySessions)
	slots := make(chan struct{}, 8)
	for i := range ids {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			var err error
			if ids[i], err = c.open(); err == nil {
				_, _, err = c.turn(ids[i], "[[say hello]]", 0)
			}
			if err != nil {
				failed <- err
			}
		})
	}
	all.Wait()
	select {
	case err := <-failed:
		return err
	default:
	}
	time.Sleep(5 * time.Second)
	after, err := p.memory()
	if err != nil {
		return err
	}
	each := max(after-before, 0) * 1000 / manySessions
	s.figures = append(s.figures, figure{what: fmt.Sprintf("memory of an idle session, of %d with a turn each", manySessions),
		value:    fmt.Sprintf("%.0f KB", each),
		compared: fmt.Sprintf("%.0f MB before, %.0f MB after, resident", before, after), target: "< 100 KB", met: each < 100})
	return nil
}

// streamingSessions lets a manySessions sessions stream at once, each watched, and looks for lost events.
func streamingSessions(s *section, _ *program, c *caller, _ *scripted.Server) error {
	ids := make([]string, manySessions)
	for i := range ids {
		var err error
		if ids[i], err = c.open(); err != nil {
			return err
		}
	}
	lost := make([]error, manySessions)
	var all sync.WaitGroup
	began := time.Now()
	for i, id := range ids {
		all.Go(func() {
			text, _, err := c.turn(id, fmt.Sprintf("[[slow 2 ;; say number %d]]", i), 0)
			if err == nil && (!strings.HasPrefix(text, "slow words") || !strings.HasSuffix(text, fmt.Sprintf("number %d", i))) {
				err = fmt.Errorf("session %d got %.80q", i, text)
			}
			lost[i] = err
		})
	}
	all.Wait()
	took, bad := time.Since(began), 0
	for _, err := range lost {
		if err != nil {
			bad++
		}
	}
	s.figures = append(s.figures, figure{what: fmt.Sprintf("%d sessions streaming at once, each watched", manySessions),
		value:    fmt.Sprintf("%d lost something", bad),
		compared: fmt.Sprintf("%.1f s for turns of 2 s each", took.Seconds()), target: "0 lost", met: bad == 0})
	return errors.Join(lost...)
}

// watchers lets a manySessions watch one session.
func watchers(s *section, _ *program, c *caller, _ *scripted.Server) error {
	id, err := c.open()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	texts, ends, failed := make([]string, manySessions), make([]time.Time, manySessions), make([]error, manySessions)
	var all sync.WaitGroup
	for i := range texts {
		ready := make(chan struct{})
		all.Go(func() {
			texts[i], failed[i] = c.watch(ctx, id, 0, ready)
			ends[i] = time.Now()
		})
		<-ready
	}
	if err := c.do("session.prompt", obj{"id": id, "text": "[[slow 1 ;; say the end]]"}, nil); err != nil {
		return err
	}
	all.Wait()
	if err := errors.Join(failed...); err != nil {
		return err
	}
	same := 0
	for _, t := range texts {
		if t == texts[0] && strings.HasSuffix(t, "the end") {
			same++
		}
	}
	slices.SortFunc(ends, time.Time.Compare)
	s.figures = append(s.figures, figure{what: fmt.Sprintf("%d watchers of one session", manySessions),
		value:    fmt.Sprintf("%d have it whole", same),
		compared: fmt.Sprintf("the last has the end %s after the first", ends[manySessions-1].Sub(ends[0]).Round(time.Millisecond)),
		target:   "all", met: same == manySessions})
	return nil
}
