package revset

import (
	"cmp"
	"slices"
	"strings"

	"tandem/internal/repo"
)

// Prefixes is the set of commits within which short ids are to be unique. It
// is made from an expression when it is first asked.
type Prefixes struct {
	Load func() ([]repo.CommitID, []repo.ChangeID, error)

	done   bool
	err    error
	commit []string // sorted hex
	change []string
}

func (p *Prefixes) load() bool {
	if p == nil {
		return false
	}
	if !p.done {
		p.done = true
		commits, changes, err := p.Load()
		p.err = err
		for _, c := range commits {
			p.commit = append(p.commit, c.Hex())
		}
		for _, c := range changes {
			p.change = append(p.change, c.Hex())
		}
		slices.Sort(p.commit)
		p.commit = slices.Compact(p.commit)
		slices.Sort(p.change)
		p.change = slices.Compact(p.change)
	}
	return p.err == nil
}

// Err is why the set could not be made, if it could not.
func (p *Prefixes) Err() error {
	p.load()
	if p == nil {
		return nil
	}
	return p.err
}

func within(list []string, prefix string) []string {
	i, _ := slices.BinarySearchFunc(list, prefix, cmp.Compare)
	j := i
	for j < len(list) && j < i+2 && strings.HasPrefix(list[j], prefix) {
		j++
	}
	return list[i:j]
}

func (p *Prefixes) commits(hex string) []repo.CommitID {
	if !p.load() {
		return nil
	}
	var out []repo.CommitID
	for _, h := range within(p.commit, hex) {
		if id, ok := repo.ParseCommitID(h); ok {
			out = append(out, id)
		}
	}
	return out
}

func (p *Prefixes) changes(hex string) []repo.ChangeID {
	if !p.load() {
		return nil
	}
	var out []repo.ChangeID
	for _, h := range within(p.change, hex) {
		if id, ok := repo.ParseChangeID(repo.ReverseHex(h)); ok {
			out = append(out, id)
		}
	}
	return out
}

// shortest returns how many digits tell key from its neighbours in the list;
// ok is false when key is not in it.
func shortest(list []string, key string) (int, bool) {
	i, ok := slices.BinarySearch(list, key)
	if !ok {
		return 0, false
	}
	n := 0
	for _, j := range []int{i - 1, i + 1} {
		if j >= 0 && j < len(list) {
			k := 0
			for k < len(key) && list[j][k] == key[k] {
				k++
			}
			n = max(n, k)
		}
	}
	return n + 1, true
}

// ShortestCommit is the length of the shortest prefix that names a commit.
func (r *Repo) ShortestCommit(id repo.CommitID) int {
	n, ok := 0, false
	if r.Prefixes.load() {
		n, ok = shortest(r.Prefixes.commit, id.Hex())
	}
	if !ok {
		n = r.Index.ShortestCommitPrefix(id)
	}
	return r.besideRefs(id.Hex(), n)
}

// ShortestChange is the length of the shortest prefix that names a change.
func (r *Repo) ShortestChange(id repo.ChangeID) int {
	n, ok := 0, false
	if r.Prefixes.load() {
		n, ok = shortest(r.Prefixes.change, id.Hex())
	}
	if !ok {
		n = r.Index.ShortestChangePrefix(id)
	}
	return r.besideRefs(id.String(), n)
}

// besideRefs lengthens a prefix until no bookmark or tag is called so.
func (r *Repo) besideRefs(sym string, n int) int {
	for ; n < len(sym); n++ {
		_, tag := r.View.Tags[sym[:n]]
		_, bookmark := r.View.Bookmarks[sym[:n]]
		if !tag && !bookmark {
			return n
		}
	}
	return len(sym)
}
