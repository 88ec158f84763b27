/**
 * Histories of the isolation checker across backups, restores to a moment, followers and
 * promotions, while machines are killed or lose power.
 */
@NullMarked
package org.revenantdb.suite.copies;

import org.jspecify.annotations.NullMarked;
