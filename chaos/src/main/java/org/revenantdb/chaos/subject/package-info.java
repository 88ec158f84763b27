/**
 * What a user of the framework writes and is given: a subject, its promises, what it is asked after
 * a crash, and the verdict.
 *
 * <p>Reading order: {@link org.revenantdb.chaos.subject.CrashSubject}, {@link
 * org.revenantdb.chaos.subject.Promises}, {@link org.revenantdb.chaos.subject.Recovered}, {@link
 * org.revenantdb.chaos.subject.Verdict}; seldom needed: {@link
 * org.revenantdb.chaos.subject.Failpoint}.
 */
package org.revenantdb.chaos.subject;
