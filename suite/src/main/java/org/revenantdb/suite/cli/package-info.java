/**
 * The verbs of {@code ./revenant} that live in this module.
 *
 * <p>Reading order: {@link org.revenantdb.suite.cli.Main}, {@code HelpfulCommand} (what all verbs
 * have), then one class for each verb, for instance {@link org.revenantdb.suite.cli.DemoCommand}.
 */
package org.revenantdb.suite.cli;
