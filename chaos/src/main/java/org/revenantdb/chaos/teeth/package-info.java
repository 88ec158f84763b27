/**
 * The framework's self-test: a small correct store, the same store broken on purpose in one step
 * each, and the proof that each broken one is found. It is also an example of a store with its
 * subject.
 *
 * <p>Reading order: {@link org.revenantdb.chaos.teeth.TinyStore}, {@link
 * org.revenantdb.chaos.teeth.TinyStoreSubject}, {@link org.revenantdb.chaos.teeth.Flaw}, {@link
 * org.revenantdb.chaos.teeth.BrokenSubjects}.
 */
package org.revenantdb.chaos.teeth;
