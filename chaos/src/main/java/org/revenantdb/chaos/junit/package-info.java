/**
 * Crash tests as tests of JUnit 5: an annotation on a subject's class, and the extension behind it.
 *
 * <p>Reading order: {@link org.revenantdb.chaos.junit.CrashTest}, {@link
 * org.revenantdb.chaos.junit.CrashTestExtension}, {@code CrashTestSettings}, {@code CrashTestCase}.
 */
package org.revenantdb.chaos.junit;
