package job

import (
	"slices"
	"strings"
)

// maxRounds is how often a turn is ended because its agent made the same call again and again, until the job stops.
const maxRounds = 2

const circledNote = "Your last turn was ended, because you made the same call again and again, and it brought the same each time. " +
	"Do it in another way. Where there is none, end your turn and say what keeps you from it.\n\n"

// circled has a turn begun again in which the agent went round in circles, once.
func (j *Job) circled(why string) {
	if j.Rounds++; j.Rounds >= maxRounds {
		j.fail("its agent goes round in circles: " + why)
		return
	}
	j.Flight, j.Reason = "", why
	j.Turns++
	j.Prompt = circledNote + strings.TrimPrefix(strings.TrimPrefix(j.Prompt, circledNote), cutNote)
}

// handedIn says whether the check was red on the same files before, and keeps them.
func (j *Job) handedIn(tree string) bool {
	if tree == "" {
		return false
	}
	if slices.Contains(j.RedTrees, tree) {
		return true
	}
	j.RedTrees = append(j.RedTrees, tree)
	return false
}
