package gitstore

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"tandem/internal/fault"
	"tandem/internal/repo"
)

// Limits bound what a peer may send at once.
type Limits struct {
	Objects int   // number of git objects
	Bytes   int64 // of one pack, as sent
	Total   int64 // of all objects, unpacked
}

// DefaultLimits suit a server that does not know its peers well.
var DefaultLimits = Limits{Objects: 2_000_000, Bytes: 4 << 30, Total: 32 << 30}

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

	store  *Store
	limits Limits

	packs      []*incomingPack
	views      map[repo.ViewID]*incomingView
	operations map[repo.OperationID]named[*repo.Operation]
	order      []repo.OperationID
	objects    int
	total      int64
	parents    map[repo.CommitID][]repo.CommitID // of received commits, after Check
	there      map[repo.CommitID]struct{}        // commits that were found, during Check
	changes    map[repo.ChangeID]struct{}        // of received commits, after Check
}

// incomingView is a view's bytes, and the commits it names.
type incomingView struct {
	data    []byte
	commits []repo.CommitID
	value   *repo.View // once somebody has read it
}

// incomingPack is a pack in memory when it is small, else under a temporary
// name.
type incomingPack struct {
	file    *os.File // nil in memory
	pack    *pack
	entries []packed
	sum     []byte
	types   map[string]repo.ObjectType
	small   map[string]repo.Object // whole objects that need not be unpacked again
	whole   bool                   // it has no differences from other objects
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
	return &Incoming{
		store: s, limits: limits,
		views:      map[repo.ViewID]*incomingView{},
		operations: map[repo.OperationID]named[*repo.Operation]{},
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
}

// View takes in a view under the id its sender gives it.
func (in *Incoming) View(id repo.ViewID, data []byte) error {
	got, commits, err := repo.ScanView(data)
	if err != nil {
		return refuse("view %.12s cannot be read: %w", id.Hex(), err)
	}
	if got != id {
		return refuse("view %.12s is really %.12s", id.Hex(), got.Hex())
	}
	in.views[id] = &incomingView{data: data, commits: commits}
	return nil
}

// Operation takes in an operation under the id its sender gives it.
func (in *Incoming) Operation(id repo.OperationID, data []byte) error {
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

// inMemory is how large a pack may be to be kept in memory, and how many bytes
// of whole objects are kept unpacked.
const inMemory = 4 << 20

// Pack takes in git objects. Each is unpacked and named by its own hash.
func (in *Incoming) Pack(r io.Reader) (err error) {
	r = io.LimitReader(r, in.limits.Bytes+1)
	start, err := io.ReadAll(io.LimitReader(r, inMemory))
	if err != nil {
		return err
	}
	p := &incomingPack{pack: &pack{data: start, close: func() {}}, types: map[string]repo.ObjectType{}, small: map[string]repo.Object{}}
	if len(start) == inMemory {
		if err := in.spill(p, io.MultiReader(bytes.NewReader(start), r)); err != nil {
			return err
		}
	}
	if err := in.index(p); err != nil {
		p.drop()
		return err
	}
	in.packs = append(in.packs, p)
	if in.Arrived == nil {
		return nil
	}
	n := len(p.entries)
	if err := in.storeAtOnce(p); err != nil {
		return err
	}
	return in.Arrived(n)
}

// storeAtOnce makes a pack durable before the rest is here. Nothing names its
// objects yet.
func (in *Incoming) storeAtOnce(p *incomingPack) error {
	var b batch
	defer b.drop()
	bases, err := in.stagePack(&b, p)
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
	if p.file, err = os.CreateTemp(dir, "tmp_pack_*"); err != nil {
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
		p.pack.data, p.pack.close = data, release
	}
	return err
}

// index finds every entry of a pack, resolves it and names it.
func (in *Incoming) index(p *incomingPack) error {
	data := p.pack.data
	if len(data) < 12+sha1.Size || string(data[:8]) != "PACK\x00\x00\x00\x02" {
		return refuse("not a git pack of version 2")
	}
	body := data[:len(data)-sha1.Size]
	sum := sha1.Sum(body)
	if p.sum = data[len(body):]; !bytes.Equal(sum[:], p.sum) {
		return refuse("pack is damaged: its checksum is wrong")
	}
	count := int(binary.BigEndian.Uint32(data[8:]))
	if in.objects += count; in.objects > in.limits.Objects {
		return refuse("more than %d objects", in.limits.Objects)
	}
	if count > len(body) {
		return refuse("pack claims more objects than it has bytes")
	}
	at := int64(12)
	p.whole = true
	for range count {
		end, whole, err := readEntry(body, at)
		if err != nil {
			return refuse("pack cannot be read: %w", err)
		}
		e := packed{crc: crc32.ChecksumIEEE(body[at:end]), offset: at}
		if whole.Type != 0 {
			if err := in.name(p, &e, whole); err != nil {
				return err
			}
		} else {
			p.whole = false
		}
		p.entries = append(p.entries, e)
		at = end
	}
	if at != int64(len(body)) {
		return refuse("pack has bytes after its last object")
	}
	return in.resolve(p)
}

// readEntry is where the entry at an offset ends, and the object it holds when
// that is whole.
func readEntry(data []byte, at int64) (end int64, whole repo.Object, err error) {
	e, err := parseEntry(data, at)
	if err != nil {
		return 0, whole, err
	}
	src := bytes.NewReader(data[e.body:])
	body, err := inflate(src, e.size)
	if err != nil {
		return 0, whole, err
	}
	if e.typ != offsetDelta && e.typ != refDelta {
		whole = repo.Object{Type: e.typ, Data: body}
	}
	return int64(len(data) - src.Len()), whole, nil
}

// name records what an entry is.
func (in *Incoming) name(p *incomingPack, e *packed, o repo.Object) error {
	if in.total += int64(len(o.Data)); in.total > in.limits.Total {
		return refuse("objects unpack to more than %d bytes", in.limits.Total)
	}
	e.id = repo.HashObject(o.Type, o.Data)
	p.types[e.id] = o.Type
	if in.total <= inMemory {
		p.small[e.id] = o
	}
	return nil
}

// resolve names the objects of a pack. Deltas against objects named by id may
// have to wait until those are named; each round must name at least one.
func (in *Incoming) resolve(p *incomingPack) error {
	bases := newCache[baseKey, repo.Object](64 << 20)
	named := map[string]int64{}
	p.pack.lookup = func(id string) (int64, bool) {
		at, ok := named[id]
		return at, ok
	}
	var waiting []int
	for i, e := range p.entries {
		if e.id == "" {
			waiting = append(waiting, i)
		} else {
			named[e.id] = e.offset
		}
	}
	for len(waiting) > 0 {
		var later []int
		for _, i := range waiting {
			e := &p.entries[i]
			o, err := p.pack.read(e.offset, bases, in.object)
			if errors.Is(err, fs.ErrNotExist) {
				later = append(later, i)
				continue
			}
			if err != nil {
				return refuse("pack cannot be read: %w", err)
			}
			if err := in.name(p, e, o); err != nil {
				return err
			}
			named[e.id] = e.offset
		}
		if len(later) == len(waiting) {
			return refuse("pack has differences from objects that are missing")
		}
		waiting = later
	}
	return nil
}

// received reads an object of the quarantine; it gives fs.ErrNotExist for one
// that did not come.
func (in *Incoming) received(id string) (repo.Object, error) {
	for _, p := range in.packs {
		if o, ok := p.small[id]; ok {
			return o, nil
		}
		if at, ok := p.pack.lookup(id); ok {
			return p.pack.read(at, in.store.objects.bases, in.object)
		}
	}
	return repo.Object{}, fs.ErrNotExist
}

// object reads an object of the quarantine or of the repository.
func (in *Incoming) object(id string) (repo.Object, error) {
	o, err := in.received(id)
	if errors.Is(err, fs.ErrNotExist) {
		return in.store.objects.read(id)
	}
	return o, err
}
