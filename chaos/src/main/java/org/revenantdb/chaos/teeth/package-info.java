/**
 * The framework's own teeth: a small honest store, the same store broken on purpose in one step
 * each, and the proof that each broken one is found. Also a worked example of a store and its
 * subject.
 *
 * <p>Reading order: {@link org.revenantdb.chaos.teeth.TinyStore}, {@link
 * org.revenantdb.chaos.teeth.TinyStoreSubject}, {@link org.revenantdb.chaos.teeth.Flaw}, {@link
 * org.revenantdb.chaos.teeth.BrokenSubjects}.
 */
package org.revenantdb.chaos.teeth;
