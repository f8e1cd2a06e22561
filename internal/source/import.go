package source

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/memory/postings"
	"tandem/internal/op"
	"tandem/internal/source/boxed"
	"tandem/internal/source/wire"
	"tandem/internal/tool"
)

// Bounds of an import.
const (
	maxPassages = 200_000 // of one source
	few         = 10      // so many files may all vanish: it was a small folder
	settles     = 2 * time.Second
)

// importing is one import under way.
type importing struct {
	*Room
	src      *binding
	known    map[string]file
	passages int64
	later    int // documents that could not be had this time
	out      wire.ImportOut
}

// bring imports a source: its caller is the owner, with whose eyes the folder is read.
func (r *Room) bring(ctx context.Context, in wire.NameIn) (wire.ImportOut, error) {
	c := op.CallerFrom(ctx)
	if c.Door != op.DoorInside {
		return wire.ImportOut{}, fault.New(fault.Denied, string(wire.Import), "the server does this by itself, and nobody else").
			WithNext("to import what changed: tandem source sync %s", in.Name)
	}
	r.one.Lock()
	defer r.one.Unlock()
	src, err := scan(r.DB.QueryRow(ctx, "SELECT "+columns+" FROM source WHERE tenant = ? AND name = ?", c.Tenant, in.Name))
	if db.NoRows(err) || err == nil && src.State != wire.Active {
		return wire.ImportOut{}, op.NoSuch("source", in.Name)
	}
	if err != nil {
		return wire.ImportOut{}, err
	}
	if !r.Vouch.Holds(ctx, src.seal(wire.Active)) {
		return wire.ImportOut{}, forged(in.Name)
	}
	if err := r.Reads.Works(); err != nil {
		return wire.ImportOut{}, err
	}
	i := &importing{Room: r, src: src, known: map[string]file{}}
	r.progress(c.Tenant, in.Name, &wire.Progress{})
	defer r.progress(c.Tenant, in.Name, nil)
	err = i.all(ctx)
	return i.out, err
}

func (i *importing) all(ctx context.Context) error {
	from, err := i.open(ctx, i.src.place())
	if err != nil {
		return err
	}
	defer from.close()
	listed, err := from.list(ctx)
	if err != nil {
		return err
	}
	rows, err := i.DB.Query(ctx, "SELECT "+fileColumns+" FROM source_file WHERE tenant = ? AND place = ?", i.src.tenant, i.src.nr)
	known, err := db.Collect(rows, err, scanFile)
	if err != nil {
		return err
	}
	for _, f := range known {
		i.known[f.path] = f
		i.passages += f.texts
	}
	gone, err := i.gone(ctx, from, listed)
	if err != nil {
		return err
	}
	for _, f := range gone {
		if err := i.put(ctx, f, nil); err != nil {
			return err
		}
		i.out.Gone++
	}
	if i.src.Connector != "" { // one that is cut off goes on with those that were not read for the longest time
		slices.SortStableFunc(listed.files, func(a, b found) int { return i.known[a.path].readAt.Compare(i.known[b.path].readAt) })
	}
	for n, f := range listed.files {
		if err := i.one(ctx, from, f); err != nil {
			return err
		}
		i.progress(i.src.tenant, i.src.Name, &wire.Progress{Files: len(listed.files), Done: n + 1})
	}
	for _, b := range listed.left {
		if err := i.refuse(ctx, b); err != nil {
			return err
		}
	}
	for _, b := range listed.unread {
		if _, known := i.known[b.File]; !known {
			if err := i.refuse(ctx, b); err != nil {
				return err
			}
		}
	}
	i.out.Files = len(listed.files)
	return i.DB.Write(ctx, func(tx *db.Tx) error {
		now, err := i.still(tx)
		if err != nil {
			return err
		}
		i.out.State = now.State
		now.Waiting, now.accepted, now.lookedAt, now.ImportedAt = false, false, tx.Now(), tx.Now()
		now.Commit, now.Reason = listed.at, ""
		if n := i.later + len(listed.unread); n > 0 {
			now.Reason = fmt.Sprintf("of some documents (%d) nothing was to be had this time: what was known of them stays", n)
		}
		return store(tx, now)
	})
}

// gone are the documents that are not there any more. When that is most of them at once, something is wrong: a person looks first.
// What no link led to because a page failed is asked for itself.
func (i *importing) gone(ctx context.Context, from origin, l *listing) (out []file, err error) {
	there := map[string]bool{}
	for _, f := range l.files {
		there[f.path] = true
	}
	for _, b := range slices.Concat(l.left, l.unread) {
		there[b.File] = true
	}
	for path, f := range i.known {
		if !there[path] {
			out = append(out, f)
		}
	}
	if len(l.unread) > 0 {
		out = lost(ctx, from, out)
	}
	if len(out) > few && 2*len(out) > len(i.known) && !i.src.accepted {
		return nil, fault.New(fault.Conflict, "source", "%d of %d files are gone at once", len(out), len(i.known)).
			WithNext("look at it; if that is right, let it go on: tandem source resume %s", i.src.Name)
	}
	return out, nil
}

// one reads a document, if it changed.
func (i *importing) one(ctx context.Context, from origin, f found) error {
	was, known := i.known[f.path]
	same := known && was.digest != "" && was.size == f.size && was.modified == f.modified && was.version == f.version
	// what was written just then may have changed after, unless its version says what it holds; what has neither is read
	if same && (f.version != "" || f.modified != 0 && time.Unix(0, f.modified).Before(was.readAt.Add(-settles))) {
		return nil
	}
	now := file{path: f.path, size: f.size, modified: f.modified, version: f.version}
	data, err := from.read(ctx, f)
	var failed *fault.Error
	var later notNow
	switch {
	case err == nil:
	case ctx.Err() != nil || i.src.Connector != "" && errors.As(err, &failed): // it is the connector that fails, and not this one
		return err
	case errors.As(err, &later):
		i.later++
		if known {
			return nil
		}
		fallthrough
	default:
		now.reason = "it cannot be read: " + plainly(err)
		return i.bad(ctx, now, was)
	}
	sum := sha256.Sum256(data)
	if now.digest = hex.EncodeToString(sum[:]); known && now.digest == was.digest {
		return i.touch(ctx, now)
	}
	doc, err := i.Reads.Read(ctx, f.called(), data)
	if why, refused := boxed.Refused(err); refused {
		now.reason = why
		return i.bad(ctx, now, was)
	}
	if err != nil {
		return err
	}
	cut := passagesOf(doc)
	if i.passages += int64(len(cut)) - was.texts; i.passages > maxPassages {
		return fault.New(fault.Exhausted, "source", "%s has more than %d passages", i.src.Where(), maxPassages).
			WithNext("bind parts of it instead")
	}
	i.out.Changed++
	return i.put(ctx, now, cut)
}

// bad notes why a document has no text here. What was known of it before goes.
func (i *importing) bad(ctx context.Context, now, was file) error {
	i.out.Bad++
	now.reason = storableWords(now.reason)
	i.passages -= was.texts
	return i.put(ctx, now, []passage{})
}

// storableWords are words of others as a database keeps them, and no more of them than somebody reads.
func storableWords(s string) string {
	return fault.Clip(strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD"), maxReason)
}

// refuse notes a file that is not read at all.
func (i *importing) refuse(ctx context.Context, b wire.BadFile) error {
	if was, known := i.known[b.File]; known && was.reason == storableWords(b.Reason) {
		return nil
	}
	return i.bad(ctx, file{path: b.File, reason: b.Reason}, i.known[b.File])
}

// touch notes that a document was looked at and is as it was.
func (i *importing) touch(ctx context.Context, now file) error {
	return i.DB.Write(ctx, func(tx *db.Tx) error {
		if _, err := i.still(tx); err != nil {
			return err
		}
		_, err := tx.Exec("UPDATE source_file SET size = ?, modified = ?, version = ?, read_at = ? WHERE tenant = ? AND place = ? AND path = ?",
			now.size, now.modified, now.version, tx.Now(), i.src.tenant, i.src.nr, now.path)
		return err
	})
}

// put stores a document with its passages in one change, in place of what was known of it. Without passages (nil) it is gone.
func (i *importing) put(ctx context.Context, now file, cut []passage) error {
	return i.DB.Write(ctx, func(tx *db.Tx) error {
		f := now // a change may run again
		if _, err := i.still(tx); err != nil {
			return err
		}
		tenant, place := i.src.tenant, i.src.nr
		if was, known := i.known[f.path]; known {
			if err := drop(tx, tenant, place, was); err != nil {
				return err
			}
		}
		if cut == nil {
			return nil
		}
		first, err := numbers(tx, tenant, len(cut)+1)
		if err != nil {
			return err
		}
		f.nr = first
		for n, p := range cut {
			nr := first + 1 + int64(n)
			if _, err := tx.Exec("INSERT INTO source_passage (tenant, nr, place, file, spot, text) VALUES (?, ?, ?, ?, ?, ?)", tenant, nr, place,
				f.nr, p.spot, p.text); err != nil {
				return err
			}
			length, err := postings.Put(tx, room, tenant, place, nr, f.path+"\n"+p.spot+"\n"+p.text)
			if err != nil {
				return err
			}
			f.texts, f.length = int64(n+1), f.length+int64(length)
		}
		_, err = tx.Exec("INSERT INTO source_file (tenant, place, "+fileColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", tenant, place,
			f.path, f.nr, f.digest, f.size, f.modified, f.reason, f.texts, f.length, tx.Now(), f.version)
		return err
	})
}

// still is the source, as long as it may be imported: who paused or revoked it stops the import here.
func (i *importing) still(tx *db.Tx) (*binding, error) {
	now, err := load(tx, i.src.tenant, i.src.Name)
	if err == nil && (now == nil || now.nr != i.src.nr || now.State != wire.Active) {
		err = errStopped
	}
	return now, err
}

// errStopped ends an import of a source that is not active any more.
var errStopped = fault.New(fault.Conflict, "source", "the source was paused, quarantined or revoked meanwhile")

var errTooLarge = errors.New("it is larger than 64 MB")

func readAll(root *os.Root, rel string) ([]byte, error) {
	f, err := tool.OpenBelow(root, rel)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, boxed.MaxInput+1))
	if err == nil && len(data) > boxed.MaxInput {
		err = errTooLarge
	}
	return data, err
}
