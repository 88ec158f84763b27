/**
 * The verbs of {@code ./revenant} that live in this module: {@link org.revenantdb.chaos.cli.Main}.
 */
package org.revenantdb.chaos.cli;
