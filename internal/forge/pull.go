package forge

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"tandem/internal/fault"
	"tandem/internal/forge/wire"
)

// pull is a pull request as it is stored.
type pull struct {
	wire.Pull
	Local string    `json:"local,omitempty"` // the job's own branch here
	Repo  string    `json:"repo,omitempty"`  // the repository's folder
	Where string    `json:"where,omitempty"` // the repository there: a forge's name may be given to another one
	Sent  []sent    `json:"sent,omitempty"`  // what was pushed, or was about to be, the newest last
	Moved time.Time `json:"moved,omitzero"`  // when something new was found last
	// Settled says of one that is merged there that the job need not be told: it is over, or something else was merged.
	Settled bool `json:"settled,omitempty"`

	forged bool // its row is not what was posted
}

// sent is a commit as it was pushed: the files of the job's, alone. What the turns before it held is not in it.
type sent struct {
	Commit string `json:"commit"` // the job's
	As     string `json:"as"`     // there
}

const maxSent = 50

// where is which repository of which forge is meant.
func where(f *wire.Forge) string { return string(f.Kind) + " " + f.URL + "/" + f.Repo }

// as is what a commit of the job is there; "" where it was not pushed.
func (p *pull) as(commit string) string {
	for _, s := range slices.Backward(p.Sent) {
		if s.Commit == commit {
			return s.As
		}
	}
	return ""
}

// of is the job's commit that was pushed as another one.
func (p *pull) of(as string) string {
	for _, s := range p.Sent {
		if s.As == as {
			return s.Commit
		}
	}
	return as
}

// What the column of the state holds beside the states: rounds do not take up what a person has to say again.
const (
	posting = "posting" // it has no number yet
	landing = "landing" // merged there, and the job does not know
)

func (p *pull) stage() string {
	switch {
	case p.Number == 0:
		return posting
	case p.State == wire.Merged && !p.Settled:
		return landing
	}
	return string(p.State)
}

// How often a pull request is looked at: seldom, once nothing moves there. GitHub counts 5,000 requests an hour for a token, and a look is
// six.
const (
	often   = 2 * time.Minute
	seldom  = 10 * time.Minute
	rarely  = time.Hour
	forHour = time.Hour
	forDay  = 24 * time.Hour
)

// turn is what rounds order pull requests by: when it was looked at, and later for those where nothing moves.
func (p *pull) turn() time.Time {
	if p.LookedAt.IsZero() {
		return p.LookedAt
	}
	switch still := p.LookedAt.Sub(p.Moved); {
	case p.Moved.IsZero() || still < forHour:
		return p.LookedAt
	case still < forDay:
		return p.LookedAt.Add(seldom - often)
	}
	return p.LookedAt.Add(rarely - often)
}

// other says why a forge is not the one that the pull request is at.
func (p *pull) other(operation string, f *wire.Forge) error {
	if p.Where == where(f) {
		return nil
	}
	return fault.New(fault.Conflict, operation, "%s was posted to %s, and %s is %s by now", p.Ref(), cmp.Or(p.Where, "another place"), f.Name,
		where(f)).WithNext("see the forge; added as it was it counts again: tandem forge show %s", f.Name)
}

// same says why what a forge shows under the number is not this pull request.
func (p *pull) same(now *there) error {
	if now.Head.Ref != p.Branch || now.Base.Ref != p.Base {
		return fault.New(fault.Conflict, "forge", "%s is for bringing %q into %q there, and tandem posted %s for %s", p.Ref(),
			fault.Clip(now.Head.Ref, 100), fault.Clip(now.Base.Ref, 100), p.Branch, p.Base).
			WithNext("look at it there, and give it its branch back: %s", p.URL)
	}
	return nil
}

// stands is what is wrong with where a pull request stands there.
func (p *pull) stands(now *there) string {
	if err := p.same(now); err != nil {
		return fault.Public(err).Msg
	}
	if head := hash(now.Head.SHA); head != p.as(p.Commit) {
		return fmt.Sprintf("the branch %s stands at %.12s there, which tandem did not post", p.Branch, cmp.Or(head, "another commit"))
	}
	return ""
}
