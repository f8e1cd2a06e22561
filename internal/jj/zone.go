package jj

import (
	"encoding/binary"
	"strings"
	"time"
)

// zone is the reader's time zone: what TZ names, by a place or by a rule such
// as "EST+5EDT,M3.2.0,M11.1.0", or the machine's.
func (s *IO) zone() *time.Location {
	name, ok := s.lookup("TZ")
	if !ok {
		return time.Local
	}
	if name = strings.TrimPrefix(name, ":"); name == "" {
		return time.UTC
	}
	if loc, err := time.LoadLocation(name); err == nil {
		return loc
	}
	if loc, err := time.LoadLocationFromTZData(name, ruleData(name)); err == nil {
		return loc
	}
	return time.UTC
}

// ruleData is a file of the time zone database that holds nothing but a rule:
// one change long ago, after which the rule counts.
func ruleData(rule string) []byte {
	header := func(changes, types, chars int) []byte {
		b := append([]byte("TZif2"), make([]byte, 15)...)
		for _, n := range []int{0, 0, 0, changes, types, chars} {
			b = binary.BigEndian.AppendUint32(b, uint32(n))
		}
		return b
	}
	local := []byte{0, 0, 0, 0, 0, 0, 'U', 'T', 'C', 0} // one type: no offset, no summer time, its name
	out := append(header(0, 1, 4), local...)
	out = append(out, header(1, 1, 4)...)
	out = binary.BigEndian.AppendUint64(out, 1<<63) // the earliest moment
	out = append(out, 0)
	out = append(out, local...)
	return append(out, "\n"+rule+"\n"...)
}
