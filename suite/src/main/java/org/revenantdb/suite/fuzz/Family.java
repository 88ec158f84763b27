package org.revenantdb.suite.fuzz;

import java.util.List;

/**
 * Moments of one database, oldest first.
 *
 * @param moments at least one
 */
record Family(List<Moment> moments) {}
