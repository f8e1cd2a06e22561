package peer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/op"
)

// everybody is how all peers are named in what an approval binds.
const everybody = "all peers"

// bindTo says which members a call is for: a name can be another member's by the time it was approved, and "all" can be more.
func bindTo[In any](r *Room, names func(In) []string) func(context.Context, In) ([]op.Bound, error) {
	return func(ctx context.Context, in In) ([]op.Bound, error) {
		ctx = choosing(ctx, in)
		s, err := r.enterSeat(ctx)
		if err != nil {
			return nil, err
		}
		defer s.mu.Unlock()
		var out []op.Bound
		for _, name := range names(in) {
			if name == "" {
				out = append(out, op.Bound{Name: everybody, Value: s.others()})
				continue
			}
			id, err := r.peer(ctx, s, name)
			if err != nil {
				return nil, err
			}
			if b := (op.Bound{Name: "peer " + name, Value: string(id)}); !slices.Contains(boundNames(out), b.Name) {
				out = append(out, b)
			}
		}
		return out, nil
	}
}

func boundNames(list []op.Bound) (out []string) {
	for _, b := range list {
		out = append(out, b.Name)
	}
	return out
}

// others are the ids of all other members.
func (s *seat) others() string {
	var ids []string
	for _, id := range s.members() {
		if id != s.me.Card().ID {
			ids = append(ids, string(id))
		}
	}
	slices.Sort(ids)
	return strings.Join(ids, " ")
}

// meant refuses a call whose name stands for somebody else than when it was approved a moment ago.
func meant(ctx context.Context, name, now string) error {
	if was, asked := op.BoundIn(ctx, name); asked && was != now {
		return fault.New(fault.Conflict, "space", "%s is not who was approved any more", name).WithNext("repeat the call to ask again")
	}
	return nil
}

// bindShare adds the piece of the file to whom it is for.
func (r *Room) bindShare(ctx context.Context, in ShareIn) ([]op.Bound, error) {
	out, err := bindTo(r, func(in ShareIn) []string { return split(in.To) })(ctx, in)
	if err != nil {
		return nil, err
	}
	ctx = choosing(ctx, in)
	s, err := r.enterSeat(ctx)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	r.settle(ctx, s)
	if in, err = in.whole(); err != nil {
		return nil, err
	}
	ref, err := readPiece(ctx, s.folder, in)
	if err != nil {
		return nil, err
	}
	return append(out, op.Bound{Name: piece(ref), Value: ref.sum()},
		op.Bound{Name: "text of " + piece(ref), Value: ref.Snippet, Shown: true}), nil
}

func piece(f *Ref) string { return "piece " + f.File + ":" + lines(f) }

// sum names what the piece holds.
func (f *Ref) sum() string {
	sum := sha256.Sum256([]byte(f.Snippet))
	return fmt.Sprintf("%d bytes, SHA-256 %s", len(f.Snippet), hex.EncodeToString(sum[:]))
}

// Whom the calls are for.
func (in SendIn) whom() []string    { return split(in.To) }
func (in HandoffIn) whom() []string { return []string{in.To} }
func (in RemoveIn) whom() []string  { return []string{in.Peer} }

func (in AddIn) whom() []string { return slices.DeleteFunc([]string{in.Assignee}, nobody) }

func (in PlanIn) whom() (out []string) {
	for _, t := range in.Tasks {
		out = append(out, t.Assignee)
	}
	return slices.DeleteFunc(out, nobody)
}

func nobody(name string) bool { return name == "" }
