/**
 * Access of the engine to members of the API that its users cannot use, like {@code SharedSecrets}
 * of the JDK.
 */
@NullMarked
package org.revenantdb.engine.access;

import org.jspecify.annotations.NullMarked;
