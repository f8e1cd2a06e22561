package peer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tandem/internal/fault"
)

// SendIn is a message.
type SendIn struct {
	Type    string `json:"type" jsonschema:"finding, task, question, status, handoff, review, chat or context"`
	Message string `json:"message" jsonschema:"what to say, 64 KB at most"`
	To      string `json:"to,omitempty" jsonschema:"a peer's username, or several with commas; all peers when left out"`
	ReplyTo string `json:"reply_to,omitempty" jsonschema:"id of the message that this one answers; it goes to whoever wrote that, or to all if that did, unless you say to whom"`
	Which
}

// check refuses what is no message.
func (in SendIn) check() error {
	if !slices.Contains(MessageTypes, in.Type) {
		return fault.New(fault.Invalid, "space.send", "%q is not a type of message", clip(in.Type)).WithNext("use one of: %s",
			strings.Join(MessageTypes, ", "))
	}
	if strings.TrimSpace(in.Message) == "" {
		return fault.New(fault.Invalid, "space.send", "the message is empty")
	}
	return nil
}

func (r *Room) opSend(ctx context.Context, in SendIn) (Said, error) {
	if err := in.check(); err != nil {
		return Said{}, err
	}
	s, err := r.enterSeat(ctx)
	if err != nil {
		return Said{}, err
	}
	defer s.mu.Unlock()
	root, to, err := r.replying(ctx, s, in)
	if err != nil {
		return Said{}, err
	}
	return r.say(ctx, s, Words{Type: in.Type, Text: in.Message, Re: root}, to, "Sent "+in.Type)
}

// say sends a message and tells honestly how far it came.
func (r *Room) say(ctx context.Context, s *seat, w Words, to, did string) (Said, error) {
	ids, err := r.whomFor(ctx, s, to)
	if err != nil {
		return Said{}, err
	}
	whom, away := "to all peers", ""
	if len(ids) > 0 {
		whom = "to " + escape(strings.Join(s.names(ids), ", "))
	}
	for _, id := range ids {
		if !s.here[id].Here {
			away += fmt.Sprintf(" %s is not here now; it waits for them.", escape(s.name(id)))
		}
	}
	sent, queued, err := r.post(ctx, s, w, ids)
	if err != nil {
		return Said{}, s.named(err)
	}
	out := Said{ID: sent[0], State: "stored"}
	if len(sent) > 1 {
		out.IDs = sent
	}
	out.Text = fmt.Sprintf("%s %s: %q\nStored by the host as %s; intandem_receipt tells when it is surfaced and read.%s", did, whom,
		clip(escape(w.Text)), out.ID, away)
	if queued {
		out.State = "queued"
		why := "what you said before still waits"
		if s.lost != nil {
			why = fault.Public(s.lost).Msg
		}
		out.Text = fmt.Sprintf("Not sent yet: the host cannot be reached (%s). The message waits here as %s and goes out by "+
			"itself when the host is back.", why, out.ID)
	}
	return r.withMail(ctx, s, out)
}

// withMail adds the fixed sentence about unread messages to an answer: the way
// mail reaches an agent that is busy calling tools.
func (r *Room) withMail(ctx context.Context, s *seat, out Said) (Said, error) {
	first, err := r.announced(ctx, s)
	if err != nil {
		return out, err
	}
	if len(s.shifted) > 0 {
		out.Text += "\n\nChanged under you, though you lease it: " + escape(strings.Join(s.shifted, ", "))
		s.shifted = nil
	}
	out.Text += s.takeNews()
	if s.unread.n > 0 {
		out.Text += "\n\n" + announce(first, s.unread.n)
		s.wakes.forget() // announced; no need to wake for them
	}
	return out, nil
}
