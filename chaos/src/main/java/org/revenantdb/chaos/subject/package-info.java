/**
 * The types that a user of the framework implements or receives: a subject, its promises, the
 * questions after a crash, and the verdict.
 *
 * <p>Reading order: {@link org.revenantdb.chaos.subject.CrashSubject}, {@link
 * org.revenantdb.chaos.subject.Promises}, {@link org.revenantdb.chaos.subject.Recovered}, {@link
 * org.revenantdb.chaos.subject.Verdict}; seldom needed: {@link
 * org.revenantdb.chaos.subject.Failpoint}.
 */
package org.revenantdb.chaos.subject;
