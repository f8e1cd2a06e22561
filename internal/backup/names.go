package backup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// The names of what a copy leaves in a folder. People name folders in which they have other things: what has another name is theirs.
const made = `[0-9]{8}-[0-9]{6}\.[0-9]{6}`

var (
	copyName   = regexp.MustCompile(`^` + made + `\.copy$`)
	piecesName = regexp.MustCompile(`^` + made + `\.pieces$`)
	anyCopy    = regexp.MustCompile(`\.copy$`) // a person may have renamed it
	// halfCopy is a copy, or the list beside one, that is not whole; one that a schedule of an earlier program made is a file of its own.
	halfCopy  = regexp.MustCompile(`^\.tandem-(` + made + `\.(copy|pieces)|tandem-.*\.scheduled)-[0-9]+$`)
	pieceName = regexp.MustCompile(`^[0-9a-f]{64}$`)                            // with the folder that it is in
	halfPiece = regexp.MustCompile(`^[0-9a-f]{2}\.tandem-[0-9a-f]{60}-[0-9]+$`) // the same, not whole
)

// named are the files of a folder with such names, in their order.
func named(folder string, names *regexp.Regexp) (out []string, err error) {
	list, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range list {
		if names.MatchString(e.Name()) {
			out = append(out, filepath.Join(folder, e.Name()))
		}
	}
	return out, err
}
