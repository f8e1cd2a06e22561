package cli

import (
	"os"
	"slices"
	"strings"
	"testing"

	"tandem/internal/cli/kit"
)

// Somebody who logged in elsewhere has to know which commands are about that server: docs/people.md names exactly those.
func TestWhatIsAboutAnotherServerIsTold(t *testing.T) {
	page, err := os.ReadFile("../../docs/people.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, ok := strings.Cut(string(page), "are about that server: ")
	list, _, whole := strings.Cut(list, ". ")
	if !ok || !whole {
		t.Fatal("docs/people.md does not say which commands are about the other server")
	}
	told := strings.FieldsFunc(list, func(r rune) bool { return strings.ContainsRune("`, \n", r) })
	have := slices.Sorted(slices.Values(kit.Follow))
	if !slices.Equal(told, have) {
		t.Errorf("docs/people.md names\n%v, and these are\n%v", told, have)
	}
}
