package panel

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/stream"
)

// admit asks the gate once: whoever may follow the journal may follow this.
func (p *Panel) admit(ctx context.Context) (context.Context, error) {
	if p.Gate.Table().Get(string(journal.EventStream)) == nil {
		return ctx, noSuchPage
	}
	return p.Gate.Admit(ctx, string(journal.EventStream), journal.EventsIn{})
}

// live streams which nouns something happened to. It carries no content: a
// page that cares reads itself again, through the gate.
func (p *Panel) live(w http.ResponseWriter, r *http.Request) {
	c := op.CallerFrom(r.Context())
	if c.Kind != op.Person || c.Door != op.DoorPanel {
		http.Error(w, "you are signed out", http.StatusUnauthorized)
		return
	}
	ctx, err := p.admit(r.Context())
	if err != nil {
		http.Error(w, words(err), http.StatusForbidden)
		return
	}
	after := Place{Seq: -1}
	var from Place
	if n, err := fmt.Sscanf(r.URL.Query().Get("from"), "%d.%d", &from.Seq, &from.Moves); n == 2 && err == nil && from.Seq >= 0 {
		after = from
	}
	if n, err := strconv.ParseInt(r.Header.Get("Last-Event-ID"), 10, 64); err == nil && n >= 0 {
		after.Seq = n // what moved meanwhile is told at once, for nothing was heard yet
	}
	out := stream.Open(w)
	if out.Write("retry: 1000\n\n") != nil {
		return
	}
	for {
		last, nouns, err := p.Feed(ctx, after)
		if err != nil {
			return // the visitor left, or the server is going down: the browser comes back by itself
		}
		switch {
		case len(nouns) > 0:
			err = out.Event(strconv.FormatInt(last.Seq, 10), "topic", []byte(strings.Join(nouns, " ")))
		case after.Seq < 0:
			err = out.Write(fmt.Sprintf("id: %d\n\n", last.Seq))
		default:
			err = out.Beat()
		}
		if err != nil {
			return
		}
		after = last
	}
}
