/**
 * Test fixtures: files that fail, and memory of what was really forced.
 *
 * <p>Reading order: {@link org.revenantdb.recovery.testing.FaultyFileSystem}, {@link
 * org.revenantdb.recovery.testing.IoEvent}.
 */
package org.revenantdb.recovery.testing;
