/**
 * Other engines, one class each, used as their own examples use them and with the settings that
 * suit them best. Nothing but the benchmarks knows them.
 */
@NullMarked
package org.revenantdb.jmh.peer;

import org.jspecify.annotations.NullMarked;
