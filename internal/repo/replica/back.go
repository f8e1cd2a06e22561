package replica

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/repo"
	"tandem/internal/repo/exchange"
)

// offer is what a replica says of what it brings back.
type offer struct {
	receipt exchange.Receipt
	told    exchange.Told
}

// giveBack brings a server that has become older what it had when it was last
// heard of. heads are operations that it has, the newest first. What was made here
// since then goes up after that, as ever.
func (r *Replica) giveBack(ctx context.Context, m Remote, known Known, heads string) error {
	head, ok := repo.ParseOperationID(known.Head)
	if !ok || !r.Store.HasOperation(head) {
		return fault.New(fault.Conflict, "repo.sync", "what the server had when it was last heard of is not here any more").
			WithNext("nothing was sent; make a workspace of what it has now, and bring your files there: tandem init --tandem-server %s FOLDER",
				r.Server)
	}
	var common Known
	for _, hex := range strings.Fields(heads) {
		if id, ok := repo.ParseOperationID(hex); ok && r.Store.HasOperation(id) {
			common.Head = hex
			break
		}
	}
	back := &offer{receipt: known.Receipt}
	told, err := readHint[exchange.Told](r.path("told.json"))
	if err != nil {
		return err
	}
	if s, ok := readSeen(r.Store.Dir()); ok && s.Version > known.Version && !r.hasHex(s.Head) {
		told = exchange.Told{Head: s.Head, Version: s.Version} // no stream has begun since
	}
	if told.Head != "" && !r.hasHex(told.Head) {
		back.told = told
	}
	_, err = r.exchange(ctx, m, common, []repo.OperationID{head}, back)
	return err
}

func (r *Replica) hasHex(hex string) bool {
	id, ok := repo.ParseOperationID(hex)
	return ok && r.Store.HasOperation(id)
}

// keepTold keeps, when a stream begins, the head that the last one told of and the
// copy never had: if the server lost it, nobody else may know.
func keepTold(dir string, now seen) {
	s, ok := readSeen(dir)
	if !ok || s.Head == now.Head {
		return
	}
	if _, err := os.Stat(operationFile(dir, s.Head)); err != nil {
		_ = writeHint(stateFile(dir, "told.json"), exchange.Told{Head: s.Head, Version: s.Version}) // a hint, as its name says
	}
}

func operationFile(dir, hex string) string { return filepath.Join(dir, "op_store", "operations", hex) }

// older says whether the server told the copy in a .jj/repo of a head that the copy
// has and has left behind: the server was put back, and what is here it lacks.
func older(dir string) bool {
	s, ok := readSeen(dir)
	if !ok {
		return false
	}
	known, err := readHint[Known](stateFile(dir, "known.json"))
	if err != nil || s.Head == known.Head || s.Version <= known.Version {
		return false
	}
	_, err = os.Stat(operationFile(dir, s.Head))
	return err == nil
}
