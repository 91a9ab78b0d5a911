// Package catalog turns one YAML file into the vendors, models, routes and
// policies that warmroute may use, and keeps the last good one while the file
// is edited.
//
// Its promise: adding a vendor is a YAML edit and nothing else; every mistake
// of meaning is reported at once, with file, line, column, what is wrong and
// what to do; prices are read from the text as written, exactly; and a bad edit
// while serving leaves the last good catalog in force and says so.
//
// Start with [Parse], which reads a text, [Catalog.Resolve], which finds what a
// client asked for, and [Live], which follows a file.
//
// A Catalog never changes once built and may be read by any number of goroutines.
package catalog
