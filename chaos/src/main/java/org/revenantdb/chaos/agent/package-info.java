/**
 * Agents of forked JVMs, which change classes. One of them reports the calls of native methods for
 * files.
 *
 * <p>The protocol is in the README beside this package. Reading order: {@link
 * org.revenantdb.chaos.agent.AgentJar}, {@link org.revenantdb.chaos.agent.FileAgent}, {@link
 * org.revenantdb.chaos.agent.NativeCalls}, {@code CallSites}, {@link
 * org.revenantdb.chaos.agent.Bridge}.
 */
package org.revenantdb.chaos.agent;
