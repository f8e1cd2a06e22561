package red

import (
	"bytes"
	"fmt"

	"tandem/internal/space/seal"
)

// circle is a space's members with their groups, all at one epoch.
type circle struct {
	*stage
	members []*seal.Identity
	groups  []*seal.Group
	seq     uint64
}

// circle seats so many members.
func (s *stage) circle(n int) *circle {
	s.Helper()
	c := &circle{stage: s}
	first := must[*seal.Identity](s)(seal.NewIdentity())
	c.members, c.groups = []*seal.Identity{first}, []*seal.Group{must[*seal.Group](s)(seal.NewGroup(first, "spc_red"))}
	for len(c.members) < n {
		me := must[*seal.Identity](s)(seal.NewIdentity())
		guest := must[*seal.Newcomer](s)(seal.NewNewcomer(me))
		change := must[seal.Change](s)(c.groups[0].Add(guest.KeyPackage()))
		c.move(0, change)
		c.members, c.groups = append(c.members, me), append(c.groups, must[*seal.Group](s)(guest.Join(change.Welcome)))
	}
	return c
}

// move brings everybody to the epoch of a commit; who is left out of it stays where it was.
func (c *circle) move(by int, change seal.Change) {
	for i, g := range c.groups {
		if next, err := g.Apply(change.Commit); i != by && err == nil {
			c.groups[i] = next
		}
	}
	c.groups[by] = change.Next
}

func (c *circle) key(i int) seal.EpochKey {
	return must[seal.EpochKey](c.stage)(c.groups[i].EpochKey())
}

func (c *circle) remove(by, gone int) {
	c.move(by, must[seal.Change](c.stage)(c.groups[by].Remove(c.members[gone].Card().ID)))
}

func (c *circle) refresh(by int) seal.Change {
	return must[seal.Change](c.stage)(c.groups[by].Refresh())
}

const words = "what was said among us"

// says seals words of a member's with a key.
func (c *circle) says(by int, k seal.EpochKey, to *seal.Card) seal.Envelope {
	c.seq++
	return must[seal.Envelope](c.stage)(k.Seal(c.members[by], to, seal.Envelope{Space: "spc_red", Seq: c.seq, ID: fmt.Sprint("m_", c.seq),
		Class: "message", At: 1}, []byte(words)))
}

// reads reports whether a member with that key can read an envelope as one of the sender's.
func (c *circle) reads(i int, k seal.EpochKey, sender seal.Card, e seal.Envelope) bool {
	got, err := k.Open(c.members[i], sender, nil, &e)
	return err == nil && bytes.Equal(got, []byte(words))
}

// follows reports whether a member takes a commit.
func (c *circle) follows(i int, commit []byte) bool {
	next, err := c.groups[i].Apply(commit)
	return err == nil && next != nil
}

// In each the first answer is of a member for whom nothing was done: one who was not removed, a state that was put back, a roster that
// names the wrong key.
var epochTrials = []trial{
	{"mls", "a removed member reads on", func(s *stage) (bool, bool) {
		c := s.circle(3)
		stayed := c.says(0, c.key(0), nil)
		opened := c.reads(2, c.key(2), c.members[0].Card(), stayed)
		c.remove(0, 2)
		later := c.says(0, c.key(0), nil)
		lied := c.key(2)
		lied.Epoch = later.Epoch
		return opened, c.reads(2, c.key(2), c.members[0].Card(), later) || c.reads(2, lied, c.members[0].Card(), later)
	}},
	{"mls", "a removed member follows the next commit", func(s *stage) (bool, bool) {
		c := s.circle(3)
		opened := c.follows(2, c.refresh(0).Commit)
		c.remove(0, 2)
		return opened, c.follows(2, c.refresh(0).Commit)
	}},
	{"mls", "a newcomer reads what came before", func(s *stage) (bool, bool) {
		c := s.circle(2)
		old := c.key(0)
		before := c.says(0, old, nil)
		late := s.circle(3)
		late.members[2], late.groups[2] = c.members[1], c.groups[1]
		opened := c.reads(1, c.key(1), c.members[0].Card(), before)
		guest := must[*seal.Newcomer](s)(seal.NewNewcomer(late.members[1]))
		change := must[seal.Change](s)(c.groups[0].Add(guest.KeyPackage()))
		c.members, c.groups = append(c.members, late.members[1]), append(c.groups, must[*seal.Group](s)(guest.Join(change.Welcome)))
		lied := c.key(2)
		lied.Epoch = before.Epoch
		return opened, c.reads(2, c.key(2), c.members[0].Card(), before) || c.reads(2, lied, c.members[0].Card(), before)
	}},
	{"mls", "a commit a second time", func(s *stage) (bool, bool) {
		c := s.circle(3)
		change := c.refresh(0)
		opened := c.follows(1, change.Commit)
		c.move(0, change)
		return opened, c.follows(1, change.Commit)
	}},
	{"mls", "a commit of an epoch that is over", func(s *stage) (bool, bool) {
		c := s.circle(3)
		stale := c.refresh(1)
		opened := c.follows(2, stale.Commit)
		c.move(0, c.refresh(0))
		return opened, c.follows(2, stale.Commit)
	}},
	{"mls", "a commit of another group", func(s *stage) (bool, bool) {
		c, other := s.circle(3), s.circle(3)
		foreign := other.refresh(0).Commit
		return other.follows(1, foreign), c.follows(1, foreign)
	}},
	{"mls", "a commit with one bit changed", func(s *stage) (bool, bool) {
		c := s.circle(3)
		commit := c.refresh(0).Commit
		opened := c.follows(1, commit)
		taken := false
		for i := 0; i < len(commit); i += 7 {
			bad := bytes.Clone(commit)
			bad[i] ^= 1
			taken = taken || c.follows(1, bad)
		}
		return opened, taken
	}},
	{"mls", "a message of an epoch that is over, as one of now", func(s *stage) (bool, bool) {
		c := s.circle(2)
		old := c.key(0)
		e := c.says(0, old, nil)
		opened := c.reads(1, c.key(1), c.members[0].Card(), e)
		c.move(0, c.refresh(0))
		e.Epoch = c.key(1).Epoch
		return opened, c.reads(1, c.key(1), c.members[0].Card(), e)
	}},
	{"mls", "a member in another's name", func(s *stage) (bool, bool) {
		c := s.circle(3)
		e := c.says(1, c.key(1), nil)
		opened := c.reads(2, c.key(2), c.members[1].Card(), e) // a roster that has the wrong key
		e.From = c.members[0].Card().ID
		return opened, c.reads(2, c.key(2), c.members[0].Card(), e)
	}},
	{"mls", "mail for another", func(s *stage) (bool, bool) {
		c := s.circle(3)
		to, me := c.members[1].Card(), c.members[2].Card()
		mine := c.says(0, c.key(0), &me)
		e := c.says(0, c.key(0), &to)
		readdressed := e
		readdressed.To = me.ID
		return c.reads(2, c.key(2), c.members[0].Card(), mine),
			c.reads(2, c.key(2), c.members[0].Card(), e) || c.reads(2, c.key(2), c.members[0].Card(), readdressed)
	}},
	{"mls", "a card with somebody else's key", func(s *stage) (bool, bool) {
		c := s.circle(2)
		card := c.members[0].Card()
		opened := card.Check() == nil
		card.Sign = c.members[1].Card().Sign
		return opened, card.Check() == nil
	}},
	{"mls", "an invitation for one, used by another", func(s *stage) (bool, bool) {
		c := s.circle(1)
		guest := must[*seal.Newcomer](s)(seal.NewNewcomer(must[*seal.Identity](s)(seal.NewIdentity())))
		thief := must[*seal.Newcomer](s)(seal.NewNewcomer(must[*seal.Identity](s)(seal.NewIdentity())))
		change := must[seal.Change](s)(c.groups[0].Add(guest.KeyPackage()))
		_, guests := guest.Join(change.Welcome)
		_, thiefs := thief.Join(change.Welcome)
		return guests == nil, thiefs == nil
	}},
}
