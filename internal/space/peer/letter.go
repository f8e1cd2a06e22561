package peer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/op"
	"tandem/internal/space"
	"tandem/internal/space/seal"
)

// split are the usernames of a list behind commas; "" alone stands for all peers.
func split(names string) []string {
	var out []string
	for name := range strings.SplitSeq(names, ",") {
		if name = strings.TrimSpace(name); name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	if len(out) == 0 {
		return []string{""}
	}
	return out
}

// whomFor finds the members that a message is for; none for all. The caller
// holds s.mu.
func (r *Room) whomFor(ctx context.Context, s *seat, names string) ([]seal.MemberID, error) {
	if strings.TrimSpace(names) == "" {
		if len(s.members()) < 2 {
			return nil, fault.New(fault.Conflict, "space.send", "nobody else is in this space yet").
				WithNext("share an invite code: intandem_invite")
		}
		return nil, meant(ctx, everybody, s.others())
	}
	r.fresh(ctx, s) // who is here now is told
	var out []seal.MemberID
	for _, name := range split(names) {
		id, err := s.peer(name)
		if err == nil {
			err = meant(ctx, "peer "+name, string(id))
		}
		if err != nil {
			return nil, err
		}
		if id == s.me.Card().ID {
			return nil, fault.New(fault.Invalid, "space.send", "that is you").WithNext("name another peer, see intandem_peers")
		}
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out, nil
}

// post sends a message: one envelope to all, or one to each of those it is for,
// which only they can open. The caller holds s.mu.
func (r *Room) post(ctx context.Context, s *seat, w Words, to []seal.MemberID) (ids []string, queued bool, err error) {
	if len(to) < 2 {
		t := thing{class: space.ClassMessage, content: w}
		if len(to) == 1 {
			t.to = to[0]
		}
		a, queued, err := r.sendOrQueue(ctx, s, t)
		return []string{a.ID}, queued, err
	}
	for _, m := range to {
		w.Whom, w.Copies = append(w.Whom, string(m)), append(w.Copies, id.New("m"))
	}
	for i, m := range to {
		_, late, err := r.sendOrQueue(ctx, s, thing{id: w.Copies[i], class: space.ClassMessage, to: m, content: w})
		if err != nil && i > 0 {
			f := *fault.Public(err)
			f.Msg = fmt.Sprintf("sent to %s, and no further: %s", strings.Join(s.names(to[:i]), ", "), f.Msg)
			return w.Copies[:i], queued, &f
		}
		if err != nil {
			return nil, queued, err
		}
		queued = queued || late
	}
	return w.Copies, queued, nil
}

func (s *seat) names(of []seal.MemberID) (out []string) {
	for _, id := range of {
		out = append(out, s.name(id))
	}
	return out
}

// root is the id by which everybody knows the conversation that a message is in.
func (i item) root() string {
	switch {
	case i.Words.Re != "":
		return i.Words.Re
	case len(i.Words.Copies) > 0:
		return i.Words.Copies[0]
	}
	return i.ID
}

// again says that an own message is a further copy of one that is listed.
func (i item) again(me seal.MemberID) bool {
	return i.From == string(me) && len(i.Words.Copies) > 0 && i.Words.Copies[0] != i.ID
}

// replying fills in what a reply leaves out: the conversation, and whom it is for,
// which is whoever wrote that message, or those it was for. The caller holds s.mu.
func (r *Room) replying(ctx context.Context, s *seat, in SendIn) (root, to string, err error) {
	if in.ReplyTo == "" {
		return "", in.To, nil
	}
	found, err := r.messages(ctx, s, "l.env = ?", 1, in.ReplyTo)
	if err != nil {
		return "", "", err
	}
	if len(found) == 0 {
		return "", "", fault.New(fault.NotFound, "space.send", "there is no message %s in this space", clip(in.ReplyTo)).
			WithNext("see intandem_inbox with all=true")
	}
	i := found[0]
	switch {
	case in.To != "" || i.To == "":
		return i.root(), in.To, nil
	case i.From != string(s.me.Card().ID):
		return i.root(), i.From, nil
	case len(i.Words.Whom) > 0:
		return i.root(), strings.Join(i.Words.Whom, ","), nil
	}
	return i.root(), i.To, nil
}

// bindSend says which members a message is for.
func (r *Room) bindSend(ctx context.Context, in SendIn) (_ []op.Bound, err error) {
	ctx = choosing(ctx, in)
	s, err := r.enterSeat(ctx)
	if err != nil {
		return nil, err
	}
	_, in.To, err = r.replying(ctx, s, in)
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return bindTo(r, SendIn.whom)(ctx, in)
}

// scanned is how many messages a search looks at, at most.
const scanned = 10_000

// search finds messages by their words or their conversation, the newest first.
// They are sealed, so each is opened and looked at.
func (r *Room) search(ctx context.Context, s *seat, in InboxIn) ([]item, error) {
	thread := in.Thread
	if thread != "" {
		found, err := r.messages(ctx, s, "l.env = ?", 1, thread)
		if err != nil {
			return nil, err
		}
		if len(found) > 0 {
			thread = found[0].root()
		}
	}
	before := in.Before
	if before <= 0 {
		before = s.seq + 1
	}
	var out []item
	const page = 200
	for seen := 0; seen < scanned && len(out) < in.Limit; seen += page {
		items, err := r.messages(ctx, s, "l.seq < ? ORDER BY l.seq DESC", page, before)
		if err != nil || len(items) == 0 {
			return out, err
		}
		for _, i := range items {
			before = i.Seq
			if len(out) < in.Limit && !i.again(s.me.Card().ID) && (thread == "" || i.root() == thread) && s.says(i, in.Text) {
				out = append(out, i)
			}
		}
	}
	return out, nil
}

// says reports whether a message has all of some words, in its text, its sender or
// what was shared with it.
func (s *seat) says(i item, words string) bool {
	all := []string{i.ID, i.Words.Type, i.Words.Text, s.name(seal.MemberID(i.From))}
	if f := i.Words.Ref; f != nil {
		all = append(all, f.File, f.Snippet)
	}
	for n, f := range i.Words.Files {
		all = append(all, f.shown(n))
	}
	text := strings.ToLower(strings.Join(all, "\n"))
	for w := range strings.FieldsSeq(strings.ToLower(words)) {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// far is how far an own message has come with each that it is for. The caller
// holds s.mu.
func (r *Room) far(ctx context.Context, s *seat, i item) (map[string]string, error) {
	out := map[string]string{}
	if len(i.Words.Copies) > 0 {
		for n, id := range i.Words.Whom {
			marks, err := r.marksOf(ctx, s, i.Words.Copies[min(n, len(i.Words.Copies)-1)])
			if err != nil {
				return nil, err
			}
			out[s.name(seal.MemberID(id))] = orElse(marks[seal.MemberID(id)], "stored")
		}
		return out, nil
	}
	to, err := r.addressees(ctx, s, i.ID)
	if err != nil {
		return nil, err
	}
	marks, err := r.marksOf(ctx, s, i.ID)
	for _, id := range to {
		out[s.name(id)] = orElse(marks[id], "stored")
	}
	return out, err
}
