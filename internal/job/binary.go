package job

import (
	"fmt"
	"net/http"
	"strings"

	"tandem/internal/foreign"
	"tandem/internal/job/wire"
	"tandem/internal/session/checkout"
)

// blobs puts under each line of a diff that says no more than "Binary files … differ" what is known of the file: a zero byte is enough to
// keep a script out of a diff, and a shell runs it all the same.
func blobs(repo, diff string, all []checkout.Blob, files []wire.File) string {
	var out strings.Builder
	for line := range strings.SplitAfterSeq(diff, "\n") {
		out.WriteString(line)
		if len(all) == 0 || !strings.HasPrefix(line, "Binary files ") { // lines of files begin with another character
			continue
		}
		b := all[0]
		if all = all[1:]; b.ID == "" {
			continue
		}
		kind, text := kindOf(b)
		for i := range files {
			if files[i].Path == printed(b.Path) {
				files[i].Type, files[i].Size, files[i].Digest = kind, b.Size, b.ID
			}
		}
		fmt.Fprintf(&out, "# %s: %s, %d bytes, object %s\n# to open it: git -C %s cat-file blob %s >FILE\n", printed(b.Path), kind, b.Size, b.ID,
			quoted(repo), b.ID)
		if !text {
			continue
		}
		for part := range strings.SplitSeq(strings.TrimSuffix(b.Begin, "\n"), "\n") {
			fmt.Fprintf(&out, "# | %s\n", foreign.Spelled(foreign.ExactLine(part), "‹", "›"))
		}
		if int64(len(b.Begin)) < b.Size {
			out.WriteString("# | (it goes on)\n")
		}
	}
	return out.String()
}

// kindOf says what a file that git takes for binary is by its first bytes, and whether it is mostly text all the same.
func kindOf(b checkout.Blob) (kind string, text bool) {
	shown := 0
	for _, r := range b.Begin {
		if r >= ' ' && r != 0x7f && r != '\uFFFD' || r == '\n' || r == '\t' || r == '\r' {
			shown += len(string(r))
		}
	}
	if b.Begin != "" && shown*10 >= len(b.Begin)*8 {
		return "text with bytes that are none", true
	}
	return http.DetectContentType([]byte(b.Begin)), false
}
