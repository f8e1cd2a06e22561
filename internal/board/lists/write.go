package lists

import "regexp"

// ours is an id of a board.
var ours = regexp.MustCompile(`^T-[0-9a-f]{6}$`)

// priorities as beads counts them.
var priorities = []string{"critical", "high", "medium", "low"}

// Write writes tasks in a form, each behind those that it depends on. A task waits in it only for others that are written with it.
func Write(form Form, tasks []Task) ([]byte, error) {
	tasks, err := ordered(tasks)
	if err != nil {
		return nil, err
	}
	switch form {
	case GitHub:
		return toGitHub(tasks)
	case Beads:
		return toBeads(tasks)
	default:
		return toMarkdown(tasks), nil
	}
}
