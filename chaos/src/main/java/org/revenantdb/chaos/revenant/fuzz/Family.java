package org.revenantdb.chaos.revenant.fuzz;

import java.util.List;

/**
 * Moments of one database, oldest first.
 *
 * @param moments at least one
 */
record Family(List<Moment> moments) {}
