package book

import (
	"slices"
	"strings"
)

// listing are the grants in force and those that were taken back. It never changes. The next one shares the long list with it, and has
// beside it what became different since: a change costs what it changes, and whoever lists all puts the two together.
type listing struct {
	old   []*Grant // by their ids
	newer []*Grant // in the order in which they became so
}

// maxNewer is how many changes stand beside the list.
const maxNewer = 256

// with is the same with a grant as it is now.
func (k listing) with(g *Grant) listing {
	if len(k.newer) >= maxNewer {
		k = listing{old: k.all()}
	}
	return listing{k.old, append(slices.Clip(k.newer), g)}
}

// all are the grants by their ids, which is the order in which they were given. The list is not to be changed.
func (k listing) all() []*Grant {
	if len(k.newer) == 0 {
		return k.old
	}
	list := append(make([]*Grant, 0, len(k.old)+len(k.newer)), k.old...)
	for _, g := range k.newer {
		if i, there := at(list, g.ID); there {
			list[i] = g
		} else {
			list = slices.Insert(list, i, g)
		}
	}
	return list
}

// find is a grant that is in force, nil where there is none of that id.
func (k listing) find(id string) *Grant {
	for _, g := range slices.Backward(k.newer) {
		if g.ID == id {
			return g.inForce()
		}
	}
	if i, there := at(k.old, id); there {
		return k.old[i].inForce()
	}
	return nil
}

func (g *Grant) inForce() *Grant {
	if g.RevokedAt != nil {
		return nil
	}
	return g
}

// at is where a grant is in a list by ids, or would be.
func at(all []*Grant, id string) (int, bool) {
	return slices.BinarySearchFunc(all, id, func(g *Grant, id string) int { return strings.Compare(g.ID, id) })
}
