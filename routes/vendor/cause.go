package vendor

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
)

// describe says for the log why there was no answer. Only errors that are known
// to speak of the connection are quoted: others may quote what came over it, and
// a URL may carry a query.
func describe(err error) string {
	var (
		address *AddressError
		dns     *net.DNSError
		op      *net.OpError
		verify  *tls.CertificateVerificationError
		record  tls.RecordHeaderError
		host    x509.HostnameError
	)
	switch {
	case errors.As(err, &address):
		return address.Error()
	case errors.As(err, &dns):
		return "name not resolved: " + dns.Name
	case errors.As(err, &verify), errors.As(err, &host):
		return "certificate not accepted"
	case errors.As(err, &record):
		return "no TLS at the vendor's address"
	case errors.As(err, &op):
		if op.Timeout() {
			return op.Op + ": timeout"
		}
		return op.Op + ": " + op.Err.Error()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection ended before the answer"
	case strings.Contains(err.Error(), "server response headers exceeded"):
		return "the answer's header is too large"
	}
	return "the connection broke"
}

// broke says for the log why an accepted answer did not reach its end.
func (a *attempt) broke(err error) string {
	switch cause := a.cause(); {
	case cause == errFirstByte, cause == errIdle:
		return cause.Error()
	case err == nil, errors.Is(err, io.EOF):
		return "the answer ended without its last event"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the answer was cut"
	}
	return describe(err)
}
