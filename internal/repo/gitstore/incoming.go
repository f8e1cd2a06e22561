package gitstore

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"tandem/internal/fault"
	"tandem/internal/repo"
)

// Limits bound what a peer may send at once.
type Limits struct {
	Objects int   // number of git objects
	Bytes   int64 // of one pack, as sent
	Total   int64 // of all objects, unpacked
	Named   int64 // of operations and views, which are held in memory
	Held    int   // of one object that must be held in memory: anything but a file that comes whole
}

// DefaultLimits suit a server that does not know its peers well.
var DefaultLimits = Limits{Objects: 2_000_000, Bytes: 4 << 30, Total: 32 << 30, Named: 1 << 30, Held: 256 << 20}

// Incoming is a quarantine: what a peer has sent, not yet part of the
// repository. Pack, View and Operation take it in, Check says whether all of
// it holds together with what is there, Accept makes it durable. Close drops
// what was not accepted. Nothing of it can be seen before Accept.
type Incoming struct {
	// Arrived, when it is not nil, has every pack stored at once, and is told how
	// many objects it had: what has arrived stays when the rest does not.
	Arrived func(objects int) error

	// Unkept says that received commits need no protection from git's garbage
	// collection.
	Unkept bool

	// Served says that it comes from the repository's own server, where a person's
	// git may have brought in what no push may: names that are reserved, and
	// conflicts that lack a side. A copy without them would have nothing at all.
	// What is checked out is looked at again then.
	Served bool

	// Share, when it is not nil, is what else its sender is sending.
	Share *Share

	store  *Store
	limits Limits
	packed int64 // bytes of packs that arrived

	packs      []*incomingPack
	views      map[repo.ViewID]*incomingView
	scanner    repo.ViewScanner // of views
	operations map[repo.OperationID]named[*repo.Operation]
	order      []repo.OperationID
	objects    int
	total      int64 // bytes of objects, unpacked
	named      int64 // bytes of operations and views
	held       int   // bytes of packs in memory
	thin       int   // packs with differences from objects outside of them

	types   map[objectID]repo.ObjectType      // of the objects that were received
	wants   map[objectID]want                 // what they refer to and has not come
	parents map[repo.CommitID][]repo.CommitID // of received commits
	changes map[repo.ChangeID]struct{}        // of received commits
	there   map[repo.CommitID]struct{}        // commits that were found, during Check
	checked bool

	settleAt int // how many wants are too many to go on without a look
}

// incomingView is a view's bytes.
type incomingView struct {
	data  []byte
	value *repo.View // once somebody has read it
}

// incomingPack is a pack in memory when it is small, else under a temporary
// name.
type incomingPack struct {
	file    *os.File // nil in memory
	pack    *pack
	entries []packed
	sum     []byte
	small   map[string]repo.Object // whole objects that need not be unpacked again
	thin    bool                   // it has differences from objects outside it
	large   bool                   // it has an object that is better not held in memory
	stored  bool                   // its objects are in the repository already
}

func (p *incomingPack) drop() {
	p.pack.close()
	if p.file != nil {
		p.file.Close()
		os.Remove(p.file.Name())
	}
}

// Receive opens a quarantine.
func (s *Store) Receive(limits Limits) *Incoming {
	if limits.Held == 0 {
		limits.Held = DefaultLimits.Held
	}
	return &Incoming{
		store: s, limits: limits, settleAt: limits.Objects,
		views:      map[repo.ViewID]*incomingView{},
		operations: map[repo.OperationID]named[*repo.Operation]{},
		types:      map[objectID]repo.ObjectType{},
		wants:      map[objectID]want{},
		parents:    map[repo.CommitID][]repo.CommitID{},
		changes:    map[repo.ChangeID]struct{}{},
	}
}

func refuse(format string, args ...any) error {
	return fault.New(fault.Invalid, "repo.receive", format, args...)
}

// Close drops what was not accepted.
func (in *Incoming) Close() {
	for _, p := range in.packs {
		p.drop()
	}
	in.packs = nil
	namedNow.Add(-in.named)
	_ = in.Share.add(-in.named, -in.packed, 0) // it never is too little
	in.named, in.packed = 0, 0
}

// View takes in a view under the id its sender gives it.
func (in *Incoming) View(id repo.ViewID, data []byte) error {
	if err := in.room(data); err != nil {
		return err
	}
	got, err := in.scanner.Scan(data)
	if err != nil {
		return refuse("view %.12s cannot be read: %w", id.Hex(), err)
	}
	if got != id {
		return refuse("view %.12s is really %.12s", id.Hex(), got.Hex())
	}
	in.views[id] = &incomingView{data: data}
	return nil
}

// Operation takes in an operation under the id its sender gives it.
func (in *Incoming) Operation(id repo.OperationID, data []byte) error {
	if err := in.room(data); err != nil {
		return err
	}
	o, err := repo.DecodeOperation(data)
	if err != nil {
		return refuse("operation %.12s cannot be read: %w", id.Hex(), err)
	}
	if got := o.ComputeID(); got != id {
		return refuse("operation %.12s is really %.12s", id.Hex(), got.Hex())
	}
	o.ID = id
	if _, ok := in.operations[id]; !ok {
		in.order = append(in.order, id)
	}
	in.operations[id] = named[*repo.Operation]{o, data}
	return nil
}

// room counts the bytes of an operation or a view.
func (in *Incoming) room(data []byte) error {
	in.named += int64(len(data))
	now := namedNow.Add(int64(len(data)))
	full := in.Share.add(int64(len(data)), 0, in.limits.Named)
	if in.named > in.limits.Named {
		return refuse("operations and views take more than %d bytes", in.limits.Named)
	}
	if full != nil {
		return full
	}
	if now > mostNamed && in.limits.Named < mostNamed {
		return fault.New(fault.Exhausted, "repo.receive", "too much is being received at once").
			WithNext("try again in a moment; it waits here meanwhile")
	}
	return nil
}

// namedNow are the bytes of operations and views that all quarantines hold, and
// mostNamed how many those of a server may.
var namedNow atomic.Int64

const mostNamed = 2 << 30

// inMemory is how many bytes of packs are kept in memory, and how many of whole
// objects are kept unpacked.
const inMemory = 4 << 20

// Pack takes in git objects. Each is unpacked, named by its own hash, and looked
// at for what it refers to.
func (in *Incoming) Pack(ctx context.Context, r io.Reader) (err error) {
	r = io.LimitReader(arriving{r, in}, in.limits.Bytes+1)
	room := inMemory - in.held
	start, err := io.ReadAll(io.LimitReader(r, int64(room)))
	if err != nil {
		return err
	}
	p := &incomingPack{pack: &pack{data: start, close: func() {}}, small: map[string]repo.Object{}}
	if len(start) == room {
		if err := in.spill(p, io.MultiReader(bytes.NewReader(start), r)); err != nil {
			return err
		}
	}
	if err := in.index(ctx, p); err != nil {
		p.drop()
		return err
	}
	if p.thin {
		in.thin++
	}
	in.packs = append(in.packs, p)
	if in.Arrived == nil {
		if p.file == nil {
			in.held += len(p.pack.data)
		}
		return nil
	}
	n := len(p.entries)
	if err := in.storeAtOnce(ctx, p); err != nil {
		return err
	}
	return in.Arrived(n)
}

// storeAtOnce makes a pack durable before the rest is here. Nothing names its
// objects yet.
func (in *Incoming) storeAtOnce(ctx context.Context, p *incomingPack) error {
	var b batch
	defer b.drop()
	bases, err := in.stagePack(ctx, &b, p)
	if err != nil {
		return err
	}
	settle, err := in.store.stage(&b)
	if err != nil {
		return err
	}
	if err := b.commit(); err != nil {
		return err
	}
	if err := settle(); err != nil {
		return err
	}
	for _, base := range bases {
		if err := in.store.objects.addPack(base); err != nil {
			return err
		}
	}
	p.drop()
	p.pack = &pack{lookup: func(string) (int64, bool) { return 0, false }, close: func() {}}
	p.file, p.small, p.stored = nil, nil, true
	return nil
}

// spill writes a large pack to a file.
func (in *Incoming) spill(p *incomingPack, r io.Reader) (err error) {
	dir := filepath.Join(in.store.objects.dir, "pack")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if p.file, err = beginPack(dir); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			p.drop()
		}
	}()
	n, err := io.Copy(p.file, r)
	if err != nil {
		return err
	}
	if n > in.limits.Bytes {
		return refuse("pack is larger than %d bytes", in.limits.Bytes)
	}
	data, release, err := mapFile(p.file.Name())
	if err == nil {
		p.pack.data, p.pack.close, p.pack.path = data, release, p.file.Name()
	}
	return err
}

// received reads an object of the quarantine; it gives fs.ErrNotExist for one
// that did not come.
func (in *Incoming) received(ctx context.Context, id string) (repo.Object, error) {
	return in.among(ctx, in.packs, id)
}

// among reads an object of the first packs. What it differs from came before its
// pack or was there: later packs could lead back to it, round and round.
func (in *Incoming) among(ctx context.Context, packs []*incomingPack, id string) (repo.Object, error) {
	for i, p := range packs {
		if o, ok := p.small[id]; ok {
			return o, nil
		}
		if at, ok := p.pack.lookup(id); ok {
			return p.pack.read(at, in.store.objects.bases, func(base string) (repo.Object, error) { return in.objectOf(ctx, packs[:i], base) })
		}
	}
	return repo.Object{}, fs.ErrNotExist
}

// object reads an object of the quarantine or of the repository.
func (in *Incoming) object(ctx context.Context, id string) (repo.Object, error) {
	return in.objectOf(ctx, in.packs, id)
}

func (in *Incoming) objectOf(ctx context.Context, packs []*incomingPack, id string) (repo.Object, error) {
	o, err := in.among(ctx, packs, id)
	if errors.Is(err, fs.ErrNotExist) {
		return in.store.objects.read(ctx, id)
	}
	return o, err
}
