// Package web is the dashboard: HTML from templates with one stylesheet, whole
// without scripts. Every number is text in the page.
//
// What stands here now is one page, the last turns with their outcomes and the
// prices that were compared, under a content policy that allows nothing but the
// package's own stylesheet. pages.go serves, view.go makes the text, and the
// templates hold no arithmetic.
package web
