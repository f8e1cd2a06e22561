package wire

import (
	"slices"

	"tandem/internal/lease"
)

// A task has the files of its plan to itself while its work goes on or is on its way into the branch: another task that would change one of
// them begins after that. One that failed, was stopped or is not needed has given them back.

// Has are the files that a task has to itself now.
func (k *Task) Has() []string {
	switch k.Stage {
	case AtWork, Review, Queued:
		return k.Files
	}
	return nil
}

// Behind are the tasks that have files to themselves, or are about to, which this one would change. One that has its own, with another that
// was begun beside it in a version that told files only, goes on: the two would wait for each other.
func (t *Team) Behind(k *Task, begin ...*Task) (out []string) {
	if k.Has() != nil {
		return nil
	}
	for _, o := range t.Tasks {
		has := o.Has()
		if slices.Contains(begin, o) {
			has = o.Files
		}
		if o != k && overlap(has, k.Files) {
			out = append(out, o.Name)
		}
	}
	return out
}

// overlap says whether two tasks may change the same file.
func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(one string) bool {
		return slices.ContainsFunc(b, func(other string) bool { return lease.Overlap(leased(one), leased(other)) })
	})
}

// leased is a file of a plan as a lease; what is no path of its own is all of them.
func leased(file string) string {
	if clean, err := lease.Clean(file); err == nil {
		return clean
	}
	return "**"
}
