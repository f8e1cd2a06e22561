package journal

// recent is of what entries spoke lately, so that whoever keeps something that was made of many rows looks at those alone that changed.
type recent struct {
	from   map[string]int64 // of each kind the turn up to which nothing is known of what was said
	lately map[recentOf]*latest
}

type recentOf struct{ tenant, kind string }

type latest struct {
	from int64 // what was said up to here is not among them any more
	said []said
}

type said struct {
	turn    int64
	subject string
}

// mostRecent is how many are remembered of one kind in one tenant.
const mostRecent = 128

func (s *recent) add(tenant, subject string, turn int64) {
	if s.lately == nil {
		s.lately = map[recentOf]*latest{}
	}
	of := recentOf{tenant, kindOf(subject)}
	l := s.lately[of]
	if l == nil {
		l = &latest{from: s.from[of.kind]}
		s.lately[of] = l
	}
	if len(l.said) == mostRecent {
		l.from = max(l.from, l.said[0].turn)
		l.said = l.said[1:]
	}
	l.said = append(l.said, said{turn, subject})
}

// since are the subjects of which entries spoke after a turn. It is not known for what lies further back than is remembered.
func (s *recent) since(tenant, kind string, turn int64) (subjects []string, known bool) {
	from := s.from[kind]
	l := s.lately[recentOf{tenant, kind}]
	if l != nil {
		from = l.from
	}
	if turn < from {
		return nil, false
	}
	if l != nil {
		for _, x := range l.said {
			if x.turn > turn {
				subjects = append(subjects, x.subject)
			}
		}
	}
	return subjects, true
}
