package gitstore

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
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
	store  *Store
	limits Limits

	packs      []*incomingPack
	views      map[repo.ViewID]incomingFile[*repo.View]
	operations map[repo.OperationID]incomingFile[*repo.Operation]
	order      []repo.OperationID
	objects    int
	total      int64
	parents    map[repo.CommitID][]repo.CommitID // of received commits, after Check
}

type incomingFile[T any] struct {
	value T
	data  []byte
}

// incomingPack is a pack under a temporary name.
type incomingPack struct {
	file    *os.File
	pack    *pack
	entries []packed
	sum     []byte
	types   map[string]repo.ObjectType
}

// Receive opens a quarantine.
func (s *Store) Receive(limits Limits) *Incoming {
	return &Incoming{
		store: s, limits: limits,
		views:      map[repo.ViewID]incomingFile[*repo.View]{},
		operations: map[repo.OperationID]incomingFile[*repo.Operation]{},
	}
}

func refuse(format string, args ...any) error {
	return fault.New(fault.Invalid, "repo.receive", format, args...)
}

// Close drops what was not accepted.
func (in *Incoming) Close() {
	for _, p := range in.packs {
		p.pack.close()
		p.file.Close()
		os.Remove(p.file.Name())
	}
	in.packs = nil
}

// View takes in a view under the id its sender gives it.
func (in *Incoming) View(id repo.ViewID, data []byte) error {
	v, err := repo.DecodeView(data)
	if err != nil {
		return refuse("view %.12s cannot be read: %w", id.Hex(), err)
	}
	if got := v.ComputeID(); got != id {
		return refuse("view %.12s is really %.12s", id.Hex(), got.Hex())
	}
	in.views[id] = incomingFile[*repo.View]{v, data}
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
	in.operations[id] = incomingFile[*repo.Operation]{o, data}
	return nil
}

// Pack takes in git objects. Each is unpacked and named by its own hash.
func (in *Incoming) Pack(r io.Reader) (err error) {
	dir := filepath.Join(in.store.objects.dir, "pack")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "tmp_pack_*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	n, err := io.Copy(f, io.LimitReader(r, in.limits.Bytes+1))
	if err != nil {
		return err
	}
	if n > in.limits.Bytes {
		return refuse("pack is larger than %d bytes", in.limits.Bytes)
	}
	data, release, err := mapFile(f.Name())
	if err != nil {
		return err
	}
	p := &incomingPack{file: f, pack: &pack{data: data, close: release}, types: map[string]repo.ObjectType{}}
	if err := in.index(p); err != nil {
		release()
		return err
	}
	in.packs = append(in.packs, p)
	return nil
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
	for range count {
		end, err := entryEnd(body, at)
		if err != nil {
			return refuse("pack cannot be read: %w", err)
		}
		p.entries = append(p.entries, packed{crc: crc32.ChecksumIEEE(body[at:end]), offset: at})
		at = end
	}
	if at != int64(len(body)) {
		return refuse("pack has bytes after its last object")
	}
	return in.resolve(p)
}

// entryEnd is where the entry at an offset ends.
func entryEnd(data []byte, at int64) (int64, error) {
	e, err := parseEntry(data, at)
	if err != nil {
		return 0, err
	}
	src := bytes.NewReader(data[e.body:])
	zr, err := zlib.NewReader(src)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(io.Discard, io.LimitReader(zr, int64(e.size)+1))
	if err != nil {
		return 0, err
	}
	if n != int64(e.size) {
		return 0, fmt.Errorf("entry at %d has not the size it claims", at)
	}
	return int64(len(data) - src.Len()), nil
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
	waiting := make([]int, len(p.entries))
	for i := range waiting {
		waiting[i] = i
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
			if in.total += int64(len(o.Data)); in.total > in.limits.Total {
				return refuse("objects unpack to more than %d bytes", in.limits.Total)
			}
			e.id = repo.HashObject(o.Type, o.Data)
			named[e.id] = e.offset
			p.types[e.id] = o.Type
		}
		if len(later) == len(waiting) {
			return refuse("pack has differences from objects that are missing")
		}
		waiting = later
	}
	return nil
}

// object reads an object of the quarantine or of the repository.
func (in *Incoming) object(id string) (repo.Object, error) {
	for _, p := range in.packs {
		if at, ok := p.pack.lookup(id); ok {
			return p.pack.read(at, in.store.objects.bases, in.object)
		}
	}
	return in.store.objects.read(id)
}
