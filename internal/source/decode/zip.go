package decode

import (
	"errors"
	"maps"
	"slices"
	"strings"
)

// readZip reads what an archive holds, one document after the other, each cited by its name in it. One that cannot be read is named, and
// stops nothing. What all of it unpacks to is counted together, however deep archives lie in each other.
func readZip(w *writer, data []byte) error {
	p, err := w.unpack(data)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(p.files)) {
		f := p.files[name]
		switch {
		case strings.HasSuffix(f.Name, "/") || f.Mode().IsDir():
			continue
		case w.limits.Skip != nil && w.limits.Skip("/"+name):
			continue // who binds a folder does not hand out the keys in it, packed or not
		}
		switch {
		case !f.Mode().IsRegular():
			w.left("%s: it is a link, and links are not followed", clip(name))
			continue
		case f.Flags&1 != 0:
			w.left("%s: it is locked with a password", clip(name))
			continue
		}
		inside, err := p.read(name)
		var why *Refused
		if errors.As(err, &why) && w.unpacked < w.limits.Unpacked {
			w.left("%s", why.Reason)
			continue
		}
		if err == nil {
			err = w.inner(clip(name), name, inside)
		}
		if err != nil {
			return err
		}
	}
	if len(w.doc.Parts) == 0 && len(w.doc.Left) > 0 {
		return refused("nothing in it can be read: %s", w.doc.Left[0])
	}
	return nil
}

// inner reads a document that lies inside this one, as parts of it. One that cannot be read is named, and stops nothing.
func (w *writer) inner(place, name string, data []byte) error {
	const deepest = 3
	if w.nested == deepest {
		w.left("%s: inside too many others", place)
		return nil
	}
	room := w.limits
	room.Text, room.Parts, room.Unpacked = w.limits.Text-w.written, w.limits.Parts-len(w.doc.Parts), w.limits.Unpacked-w.unpacked
	switch {
	case room.Unpacked <= 0:
		return refused("it unpacks to more than allowed")
	case room.Text <= 0 || room.Parts <= 0:
		w.left("%s: there is no more room for its text", place)
		return nil
	}
	doc, unpacked, err := decode(w.ctx, name, data, room, w.nested+1)
	w.unpacked += unpacked
	var why *Refused
	if errors.As(err, &why) {
		w.left("%s: %s", place, why.Reason)
		return nil
	}
	if err != nil {
		return err
	}
	parts, written := w.doc.Parts, w.written
	for _, p := range doc.Parts {
		err := w.part(strings.TrimSuffix(place+", "+p.Place, ", "), p.Text)
		if errors.As(err, &why) { // with its name before each place it is longer than by itself
			w.doc.Parts, w.written = parts, written
			w.left("%s: there is no more room for its text", place)
			return nil
		}
		if err != nil {
			return err
		}
	}
	for _, l := range doc.Left {
		w.left("%s: %s", place, l)
	}
	return nil
}
