package repo

import "strings"

// alone says whether what a command does depends on nothing but its own
// workspace: it describes, ends or begins a change here and names no other
// revision. It need not hear first what others did; that comes with the answer
// to what it sends, in the same round trip.
func alone(args []string) bool {
	switch Subcommand(args) {
	case "commit", "ci", "describe", "desc", "new":
	default:
		return false
	}
	for i, word := 0, false; i < len(args); i++ {
		switch a := args[i]; {
		case a == "-m" || a == "--message":
			i++ // its text
		case strings.HasPrefix(a, "--message="), strings.HasPrefix(a, "-m"), a == "--quiet":
		case !word && !strings.HasPrefix(a, "-"):
			word = true // the command itself
		default:
			return false // a revision, a file, or something that is rare
		}
	}
	return true
}
