import type { SocketRequest } from './filter-request.ts';
import {
  ALLOW,
  allow,
  EACCES,
  EAFNOSUPPORT,
  EPERM,
  EPROTONOSUPPORT,
  hasAny,
  isNoneOf,
  isOneOf,
  NOTIFY,
  notify,
  refuse,
  type Condition,
  type Rule,
} from './rule.ts';

const MSG_FASTOPEN = 0x20000000;

const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const NETLINK_ROUTE = 0;

const SOCK_STREAM = 1;
const SOCK_DGRAM = 2;
const SOCK_RAW = 3;
const SOCK_SEQPACKET = 5;
const SOCK_PACKET = 10;
/** The rest of the type argument is flags, SOCK_CLOEXEC and SOCK_NONBLOCK. */
const SOCK_TYPE_MASK = 0xf;

const IPPROTO_ICMP = 1;
const IPPROTO_ICMPV6 = 58;
const IPPROTO_TCP = 6;
const IPPROTO_UDP = 17;
const TCP_FASTOPEN = 23;
const TCP_FASTOPEN_CONNECT = 30;
const TCP_ULP = 31;
const SOL_SOCKET = 1;
const SO_BINDTODEVICE = 25;
const SO_BINDTOIFINDEX = 62;
const IPPROTO_IP = 0;
const IP_OPTIONS = 4;
const IP_UNICAST_IF = 50;
const IPPROTO_IPV6 = 41;
const IPV6_2292PKTOPTIONS = 6;
const IPV6_RTHDR = 57;
const IPV6_UNICAST_IF = 76;

const IS_INET = isFamily(AF_INET, AF_INET6);
const IS_UNIX = isFamily(AF_UNIX);
const IS_NETLINK = isFamily(AF_NETLINK);
const IS_CONNECTED = isType(SOCK_STREAM, SOCK_SEQPACKET);

export function makeSocketRules(sockets: SocketRequest, isRecorded: boolean): Rule[] {
  const rules = listSocketRules(sockets);
  if (!isRecorded) return rules;
  const first = sockets.inet === 'all' ? [PING] : sockets.isUdpAllowed === true ? [] : [QUIET_UDP];
  return [...first, ...rules.map(recordRefusal)];
}

/** The C library opens such a socket for every name, to sort its addresses; by itself that says nothing. */
const QUIET_UDP = refuse('socket', EACCES, IS_INET, isType(SOCK_DGRAM), isProtocol(0, IPPROTO_UDP));

/** Whether a group may ping is the kernel's to say; in a network of the run's own none may. */
const PING = notify(
  'socket',
  IS_INET,
  isType(SOCK_DGRAM),
  isProtocol(IPPROTO_ICMP, IPPROTO_ICMPV6),
);

/**
 * In a recorded run the broker refuses what would reach others, and records it. Kinds that are of this machine alone, which
 * libraries try and do without, are refused silently as in any run.
 */
function recordRefusal(rule: Rule): Rule {
  const isRefused = rule.call === 'socket' && rule.verdict !== ALLOW;
  const isQuiet = rule.when.some((condition) => condition === IS_UNIX || condition === IS_NETLINK);
  return isRefused && !isQuiet ? { ...rule, verdict: NOTIFY } : rule;
}

function listSocketRules(sockets: SocketRequest): Rule[] {
  return [
    ...makeInetRules(sockets),
    ...makeUnixRules(sockets.unix),
    ...(sockets.netlink
      ? [
          allow('socket', IS_NETLINK, isProtocol(NETLINK_ROUTE)),
          // What a kernel without audit or uevents says; their libraries take it as "not there".
          refuse('socket', EPROTONOSUPPORT, IS_NETLINK),
        ]
      : []),
    // Vsock reaches the hypervisor past every namespace; packet, alg, can, bluetooth and the others
    // are kernel code that an agent has no use for.
    refuse('socket', EAFNOSUPPORT),
    ...FAST_OPEN_RULES,
  ];
}

/**
 * Sending with Fast Open connects without `connect`, and Landlock does not see it. The option has `connect` say that it has
 * connected when nothing is sent yet.
 */
export const FAST_OPEN_RULES: readonly Rule[] = [
  refuse('setsockopt', EPERM, isOneOf(1, [IPPROTO_TCP]), isOneOf(2, [TCP_FASTOPEN_CONNECT])),
  refuse('sendto', EPERM, hasAny(3, MSG_FASTOPEN)),
  refuse('sendmsg', EPERM, hasAny(2, MSG_FASTOPEN)),
  refuse('sendmmsg', EPERM, hasAny(3, MSG_FASTOPEN)),
];

function makeInetRules({ inet, isUdpAllowed = false }: SocketRequest): Rule[] {
  switch (inet) {
    case 'none':
      // EACCES is what socket(2) documents for a kind of socket that is not permitted.
      return [refuse('socket', EACCES, IS_INET)];
    case 'all':
      return [
        // The kernel takes this pair for AF_PACKET.
        refuse('socket', EAFNOSUPPORT, isFamily(AF_INET), isType(SOCK_PACKET)),
        // No capability is left for it anyway.
        refuse('socket', EPERM, IS_INET, isType(SOCK_RAW)),
        allow('socket', IS_INET),
      ];
    case 'no-bypass':
      return [
        allow('socket', IS_INET, isType(SOCK_STREAM), isProtocol(0, IPPROTO_TCP)),
        // MPTCP, SCTP and SMC: Landlock's rules for TCP do not hold there. Callers fall back to TCP.
        refuse('socket', EPROTONOSUPPORT, IS_INET, isType(SOCK_STREAM)),
        ...(isUdpAllowed
          ? [allow('socket', IS_INET, isType(SOCK_DGRAM), isProtocol(0, IPPROTO_UDP))]
          : []),
        // Raw, ping, UDP-Lite and SOCK_PACKET.
        refuse('socket', EACCES, IS_INET),
        // Fast Open again, and protocols laid over TCP, one of which is SMC.
        refuse('setsockopt', EPERM, isOneOf(1, [IPPROTO_TCP]), isOneOf(2, [TCP_FASTOPEN, TCP_ULP])),
        // Routes by the will of the sender: packets would go by way of another host, or out by another link.
        refuse(
          'setsockopt',
          EPERM,
          isOneOf(1, [IPPROTO_IP]),
          isOneOf(2, [IP_OPTIONS, IP_UNICAST_IF]),
        ),
        refuse(
          'setsockopt',
          EPERM,
          isOneOf(1, [IPPROTO_IPV6]),
          isOneOf(2, [IPV6_2292PKTOPTIONS, IPV6_RTHDR, IPV6_UNICAST_IF]),
        ),
        refuse(
          'setsockopt',
          EPERM,
          isOneOf(1, [SOL_SOCKET]),
          isOneOf(2, [SO_BINDTODEVICE, SO_BINDTOIFINDEX]),
        ),
      ];
  }
}

function makeUnixRules(unix: SocketRequest['unix']): Rule[] {
  // Only unix sockets come in pairs, but for TIPC.
  const pairs = refuse('socketpair', EAFNOSUPPORT, isNoneOf(0, [AF_UNIX]));
  if (unix === 'any') {
    return [allow('socket', IS_UNIX), pairs];
  }
  return [
    ...(unix === 'connected' ? [allow('socket', IS_UNIX, IS_CONNECTED)] : []),
    refuse('socket', EACCES, IS_UNIX),
    pairs,
    // A datagram pair can still send to any other address; SOCK_RAW is a datagram socket here.
    refuse('socketpair', EACCES, isNoneOf(1, [SOCK_STREAM, SOCK_SEQPACKET], SOCK_TYPE_MASK)),
  ];
}

function isFamily(...families: readonly number[]): Condition {
  return isOneOf(0, families);
}

function isType(...types: readonly number[]): Condition {
  return isOneOf(1, types, SOCK_TYPE_MASK);
}

function isProtocol(...protocols: readonly number[]): Condition {
  return isOneOf(2, protocols);
}
