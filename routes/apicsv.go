package routes

import (
	"bytes"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

// maxExport is how many rows of a list one CSV has at most.
const maxExport = 100_000

// nextTrailer says where a list goes on that had more rows.
const nextTrailer = "Warmroute-Next"

// export sends a list as CSV, page by page, no more rows than the page allows. What
// goes wrong after the first page cuts the answer short, so that it is not taken for
// a whole one.
func export[T any](c *gin.Context, name string, page engine.Page, read func(engine.Page) ([]T, string, error)) {
	left := page.Limit
	page.Limit = min(left, engine.MaxPageSize)
	rows, next, err := read(page)
	if err != nil {
		troubled(c, err)
		return
	}
	t := tableOf[T]()
	begin(c, name)
	var text bytes.Buffer
	t.head(&text)
	for {
		for i := range rows {
			t.row(&text, reflect.ValueOf(&rows[i]).Elem())
		}
		left -= len(rows)
		_ = http.NewResponseController(c.Writer).SetWriteDeadline(time.Now().Add(errorTime))
		if _, err := c.Writer.Write(text.Bytes()); err != nil || next == "" || left <= 0 {
			break
		}
		text.Reset()
		page.After, page.Limit = next, min(left, engine.MaxPageSize)
		if rows, next, err = read(page); err != nil {
			logEntry(c).cause, logEntry(c).aborted = "the books did not answer", true
			panic(http.ErrAbortHandler)
		}
	}
	if next != "" {
		c.Writer.Header().Set(nextTrailer, next)
	}
}

// exportAll sends rows that are all there as CSV.
func exportAll[T any](c *gin.Context, name string, rows []T) {
	export(c, name, engine.Page{Limit: len(rows)}, func(engine.Page) ([]T, string, error) { return rows, "", nil })
}

func begin(c *gin.Context, name string) {
	h := c.Writer.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8; header=present")
	h.Set("Content-Disposition", `attachment; filename="warmroute-`+name+`.csv"`)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Trailer", nextTrailer)
	c.Writer.WriteHeader(http.StatusOK)
}

// table is the columns of a shape.
type table []column

// column is one value of a shape: its name, and where it lies.
type column struct {
	name string
	at   [][]int // fields, one path for each pointer on the way
}

// tableOf is the columns of a shape: its values in the order of its fields, those of
// inner shapes with the outer name and a dot before theirs. Lists of shapes have no
// column.
func tableOf[T any]() table {
	var t table
	t.add(reflect.TypeFor[T](), "", nil)
	return t
}

func (t *table) add(shape reflect.Type, prefix string, at [][]int) {
	for _, f := range jsonFields(shape) {
		inner := f.kind
		for inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		here := append(at[:len(at):len(at)], f.index)
		switch {
		case inner.Kind() == reflect.Slice && inner.Elem().Kind() == reflect.Struct:
		case inner.Kind() == reflect.Struct && inner != reflect.TypeFor[time.Time]() && inner != reflect.TypeFor[pricing.Rate]():
			t.add(inner, prefix+f.name+".", here)
		default:
			*t = append(*t, column{prefix + f.name, here})
		}
	}
}

func (t table) head(b *bytes.Buffer) {
	for i, c := range t {
		cell(b, i, c.name)
	}
	b.WriteString("\r\n")
}

func (t table) row(b *bytes.Buffer, shape reflect.Value) {
	for i, c := range t {
		cell(b, i, c.text(shape))
	}
	b.WriteString("\r\n")
}

// text is the column's value in a row; empty where there is none.
func (c *column) text(v reflect.Value) string {
	for _, index := range c.at {
		if v = reflect.Indirect(v); !v.IsValid() {
			return ""
		}
		v = v.FieldByIndex(index)
	}
	if v = reflect.Indirect(v); !v.IsValid() {
		return ""
	}
	switch x := v.Interface().(type) {
	case amount:
		return string(x)
	case pricing.Rate:
		if !x.Known() {
			return ""
		}
		return x.String()
	case time.Time:
		return x.Format(time.RFC3339Nano)
	case []string:
		return harmless(strings.Join(x, "; "))
	}
	switch v.Kind() {
	case reflect.Int64, reflect.Int:
		return strconv.FormatInt(v.Int(), 10)
	case reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'f', -1, 64)
	case reflect.Bool:
		return strconv.FormatBool(v.Bool())
	}
	return harmless(v.String())
}

// harmless is text that no spreadsheet takes for a formula, in UTF-8. Source: OWASP on
// CSV injection; the wide signs are those of East Asian keyboards.
func harmless(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	for _, sign := range [...]string{"=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"} {
		if strings.HasPrefix(text, sign) {
			return "'" + text
		}
	}
	return text
}

// cell writes the i-th cell of a row, in quotes where RFC 4180 wants them.
func cell(b *bytes.Buffer, i int, text string) {
	if i > 0 {
		b.WriteByte(',')
	}
	if !strings.ContainsAny(text, "\",\r\n") && strings.TrimSpace(text) == text {
		b.WriteString(text)
		return
	}
	b.WriteByte('"')
	b.WriteString(strings.ReplaceAll(text, `"`, `""`))
	b.WriteByte('"')
}
