package testenv

import (
	"go/ast"
	"go/token"
	"strconv"
)

// Texts tells the texts in a piece of a program: what is written in several parts joined by + is one, as the reader sees it.
func Texts(n ast.Node, tell func(at token.Pos, text string)) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if text, ok := textOf(n); ok {
				tell(n.Pos(), text)
			}
		case *ast.BinaryExpr:
			if n.Op != token.ADD {
				return true
			}
			at, text := token.NoPos, ""
			end := func() {
				if at.IsValid() {
					tell(at, text)
				}
				at, text = token.NoPos, ""
			}
			for _, part := range summands(n) {
				if s, ok := textOf(part); ok {
					if !at.IsValid() {
						at = part.Pos()
					}
					text += s
					continue
				}
				end()
				Texts(part, tell)
			}
			end()
			return false
		}
		return true
	})
}

func summands(e ast.Expr) []ast.Expr {
	if b, ok := e.(*ast.BinaryExpr); ok && b.Op == token.ADD {
		return append(summands(b.X), summands(b.Y)...)
	}
	return []ast.Expr{e}
}

func textOf(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}
