package render

import (
	"strings"

	"tandem/internal/repo"
	"tandem/internal/repo/dsl"
	"tandem/internal/repo/template"
	"tandem/internal/repo/text"
)

// shortest is an id cut into the part that names it and the rest.
type shortest struct{ prefix, rest string }

func (l *Lang) bindIDs() {
	str := template.StringType
	l.Shortest = &template.Type{
		Name: "ShortestIdPrefix",
		Write: func(o *text.Text, v any) error {
			s := v.(shortest)
			o.Label("prefix", s.prefix)
			o.Label("rest", s.rest)
			return nil
		},
		JSON: func(v any) any {
			s := v.(shortest)
			return template.Object{{Key: "prefix", Value: s.prefix}, {Key: "rest", Value: s.rest}}
		},
	}
	l.Shortest.Methods = func() map[string]template.Method {
		return map[string]template.Method{
			"prefix": template.Field(str, func(s shortest) any { return s.prefix }),
			"rest":   template.Field(str, func(s shortest) any { return s.rest }),
			"upper":  template.Field(l.Shortest, func(s shortest) any { return shortest{strings.ToUpper(s.prefix), strings.ToUpper(s.rest)} }),
			"lower":  template.Field(l.Shortest, func(s shortest) any { return shortest{strings.ToLower(s.prefix), strings.ToLower(s.rest)} }),
		}
	}
	l.ChangeID = idType("ChangeId", func(v any) string { return v.(repo.ChangeID).String() })
	l.ChangeID.Methods = func() map[string]template.Method {
		m := l.idMethods(l.ChangeID, func(v any) int { return l.Repo.ShortestChange(v.(repo.ChangeID)) })
		m["normal_hex"] = template.Field(str, func(id repo.ChangeID) any { return id.Hex() })
		return m
	}
	l.CommitID = idType("CommitId", func(v any) string { return v.(repo.CommitID).Hex() })
	l.CommitID.Methods = func() map[string]template.Method {
		return l.idMethods(l.CommitID, func(v any) int { return l.Repo.ShortestCommit(v.(repo.CommitID)) })
	}
	l.OperationID = idType("OperationId", func(v any) string { return v.(repo.OperationID).Hex() })
	l.OperationID.Methods = func() map[string]template.Method {
		return map[string]template.Method{"short": shortMethod(l.OperationID)}
	}
}

func idType(name string, spell func(any) string) *template.Type {
	return &template.Type{
		Name: name, Same: true,
		Write: func(o *text.Text, v any) error { o.Str(spell(v)); return nil },
		JSON:  func(v any) any { return spell(v) },
	}
}

// sizeArg reads an optional number argument.
func sizeArg(b *template.Builder, call *dsl.Node, def int) (func() (int, error), error) {
	args, err := call.Expect(0, 1)
	if err != nil {
		return nil, err
	}
	if args[0] == nil {
		return func() (int, error) { return def, nil }, nil
	}
	return b.Size(args[0])
}

func shortMethod(t *template.Type) template.Method {
	return func(b *template.Builder, self *template.Expr, call *dsl.Node) (*template.Expr, error) {
		size, err := sizeArg(b, call, 12)
		if err != nil {
			return nil, err
		}
		return template.Map(self, template.StringType, func(v any) (any, error) {
			n, err := size()
			if err != nil {
				return nil, err
			}
			s := t.JSON(v).(string)
			return s[:min(n, len(s))], nil
		}), nil
	}
}

func (l *Lang) idMethods(t *template.Type, length func(any) int) map[string]template.Method {
	return map[string]template.Method{
		"short": shortMethod(t),
		"shortest": func(b *template.Builder, self *template.Expr, call *dsl.Node) (*template.Expr, error) {
			size, err := sizeArg(b, call, 0)
			if err != nil {
				return nil, err
			}
			if l.Repo.Prefixes.Err() != nil && b.Lang.Warn != nil {
				b.Warn(dsl.Exprf(call.NameSpan, "Failed to load short-prefixes index").With(l.Repo.Prefixes.Err()))
			}
			return template.Map(self, l.Shortest, func(v any) (any, error) {
				n, err := size()
				if err != nil {
					return nil, err
				}
				k := length(v)
				s := t.JSON(v).(string)
				s = s[:min(len(s), max(k, n))]
				k = min(k, len(s))
				return shortest{s[:k], s[k:]}, nil
			}), nil
		},
	}
}
