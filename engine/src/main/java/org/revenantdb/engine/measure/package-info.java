/** Measurements of single parts of the engine. No code that runs a database uses it. */
@NullMarked
package org.revenantdb.engine.measure;

import org.jspecify.annotations.NullMarked;
