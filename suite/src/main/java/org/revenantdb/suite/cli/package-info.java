/**
 * The verbs of {@code ./revenant} that live in this module: {@link org.revenantdb.suite.cli.Main}.
 */
package org.revenantdb.suite.cli;
