package memory

import (
	"cmp"
	"context"

	"tandem/internal/fault"
	"tandem/internal/memory/wire"
	"tandem/internal/op"
	source "tandem/internal/source/wire"
)

// passages are those of the documents that the caller may search: the room of sources decides that, file by file, in its own query.
// Beside records, who may search no documents finds none, and a search files no ask.
func (r *Room) passages(ctx context.Context, in wire.SearchIn) ([]wire.Passage, error) {
	if r.Rooms == nil {
		return nil, nil
	}
	every, beside := op.Resource{Kind: "source", Path: "/"}, in.Only == ""
	if beside && op.May(ctx, "source.read", every) && !op.Allowed(ctx, "source.read", every) {
		return nil, nil
	}
	found, err := op.Do(ctx, r.Rooms, source.Search, source.SearchIn{Query: in.Query, Limit: cmp.Or(in.Limit, 5)})
	if beside && (fault.Is(err, fault.Denied) || fault.Is(err, fault.NotFound)) { // what is hidden is not there
		return nil, nil
	}
	out := make([]wire.Passage, len(found.Passages))
	for i, p := range found.Passages {
		out[i] = wire.Passage{Passage: p, Trust: wire.Untrusted}
	}
	return out, err
}
